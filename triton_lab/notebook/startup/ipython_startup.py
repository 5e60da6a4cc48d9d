"""Run by every IPython of an environment with the lab: ``%%triton`` and ``%triton`` work without ``%load_ext``.

The wheel puts this file into ``etc/ipython/startup`` of the environment, where IPython looks for startup files. It is a
file of our own, so that no other configuration is changed. It runs in the user's namespace, and leaves no names there.
"""


def _offer_triton_lab() -> None:
    try:
        from IPython.core.getipython import get_ipython

        from triton_lab.magics import offer

        offer(get_ipython())
    except Exception:  # an environment that has lost all or part of the lab: `%load_ext triton_lab` gives the reason
        pass


_offer_triton_lab()
del _offer_triton_lab
