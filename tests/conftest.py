"""Of all Python tests: Ctrl-C means what it does in a terminal. Where tests run in the background of a shell it is ignored,
which the programs they start would inherit."""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
