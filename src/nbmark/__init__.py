"""nbmark: runs and marks notebooks. It knows nothing of attention."""
