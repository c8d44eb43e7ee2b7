"""What tests of several folders share; no test in it.

- ``planned``: captures whose every issue is planned, by the samples' issue model or by hand.
- ``strategies``, ``framing``: token streams for hypothesis, and a second reader of frames.
- ``examples``: how many of them hypothesis draws.
- ``odd_captures``, ``driving``: captures in odd states, and a browser's pages.
- ``code_objects``, ``simulated_kernels``: assembly to code objects, by the ziglang wheel.
- ``hazard_pairs``, ``hazard_ir``: each cell of the hazard tables as assembly and as LLVM IR.

Imported as ``tests.support.X`` from the root of the project; the samples' generator, which
some of it builds on, is ``traces.generate``.
"""
