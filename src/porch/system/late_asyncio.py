"""asyncio, loaded where it is first used: a driver says that it drives before it needs a loop."""

from typing import TYPE_CHECKING

__all__ = ["asyncio"]

if TYPE_CHECKING:
    import asyncio
else:

    class LateAsyncio:
        """Stands for the module, and loads it as soon as anything of it is asked for."""

        def __getattr__(self, name):
            import asyncio as loaded

            return getattr(loaded, name)

    asyncio = LateAsyncio()
