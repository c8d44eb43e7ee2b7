"""What the instructions of a kernel are and what each costs on which pipe.

``codejson`` and ``elf`` read a ``Listing``; ``classify`` tells the token that a line
gives in the trace; ``pipes`` tells the cycles that it holds its pipe.
"""
