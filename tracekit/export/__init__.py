"""Other programs' formats: one module each, with ``write(analysis, path)``."""

#: format -> (module of this package, extension of the file or directory).
FORMATS: dict[str, tuple[str, str]] = {
    "pftrace": ("pftrace", ".pftrace"),
    "parquet": ("parquet", ".parquet.d"),
    "speedscope": ("speedscope", ".speedscope.json"),
    "html": ("html", ".html"),
    "rcv": ("rcv", ".rcv.d"),
}
