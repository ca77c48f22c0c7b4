mod circuits;
mod cycle;
mod products;
mod stream;
