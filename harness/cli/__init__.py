"""The commands: each module has `work(parsed)`, which returns the exit code.

main.py     `turnbench`, and every command by its name     command.py   what is done around each
parser.py   a parser from an options record                calls.py     calls to chat models
"""
