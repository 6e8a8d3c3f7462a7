"""Which commands show the contents of a crawl? (Of these only `config` changes it.)"""
