"""The command line. Data goes to stdout, talk to stderr; everything heavy is imported by the command that needs it."""
