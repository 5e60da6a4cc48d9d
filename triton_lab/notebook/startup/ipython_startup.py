"""Run by every IPython of an environment with the lab: ``%%triton`` and ``%triton`` are there without ``%load_ext``.

The wheel puts this file into ``etc/ipython/startup`` of the environment, where IPython looks for such (a file of our
own, so that nobody else's configuration is touched). It runs among the user's names, and leaves none behind.
"""


def _offer_triton_lab() -> None:
    try:
        from IPython.core.getipython import get_ipython

        from triton_lab.magics import offer

        offer(get_ipython())
    except Exception:  # an environment that has lost the lab, or half of it: `%load_ext triton_lab` says why
        pass


_offer_triton_lab()
del _offer_triton_lab
