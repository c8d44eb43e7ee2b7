"""What a launch holds: the code object's tables, memory, LDS, workgroups, waves."""
