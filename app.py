"""The dashboard. Start it with ``make app``.

A server imports this file for its ``app``, which runs the file as a script for every visitor.
"""

if __name__ == "__main__":
    from pages.shell import main

    main()
else:
    import streamlit as st
    from starlette.middleware import Middleware

    from pages.gate import Gate, announced, shortened

    gate = [Middleware(Gate)]
    app = st.App(__file__, middleware=gate, lifespan=announced, routes=shortened())
