"""The page of a kernel as text, markdown or HTML: all by way of one ``Sheet``."""
