"""`python -m berthing`: the command line, where the command itself is not on the PATH."""

from berthing.cli.main import main

if __name__ == "__main__":
    main()
