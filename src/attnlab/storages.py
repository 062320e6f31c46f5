"""The former name of `attnlab.peak_memory`, for scripts that still import it."""

from attnlab.peak_memory import PeakMemory

__all__ = ["PeakMemory"]
