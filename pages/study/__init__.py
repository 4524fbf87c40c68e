"""Which ε is enough?"""
