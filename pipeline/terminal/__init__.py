"""How are texts, numbers and tables written for a person at a terminal?"""
