mod cycle;
mod products;
