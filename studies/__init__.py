"""The tables and figures of the five seed documents, drawn again: ``python -m studies``."""
