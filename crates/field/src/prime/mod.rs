//! Word-size primes and their negacyclic number-theoretic transforms.
