"""How is a hostile document parsed without harm?"""
