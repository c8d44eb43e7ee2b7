"""How results are shown, in the terminal and in the dashboard alike: columns, units, names."""
