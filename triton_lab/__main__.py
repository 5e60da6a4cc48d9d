"""``python -m triton_lab``: the command line, where ``triton-lab`` itself is not on the path."""

from triton_lab.command.main import main

if __name__ == "__main__":
    main()
