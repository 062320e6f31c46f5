"""nbmark: runs and marks notebooks. It knows nothing of attention."""

import sys

# Whoever reads notebooks imports jsonschema, which takes a second to build a grammar of addresses
# where this package is installed. No notebook needs it.
sys.modules.setdefault("rfc3987_syntax", None)
