mod cycle;
mod products;
mod stream;
