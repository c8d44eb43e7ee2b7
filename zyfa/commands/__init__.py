"""Subcommands of `zyfa`, one module each; the registry is `zyfa.cli.COMMANDS`."""
