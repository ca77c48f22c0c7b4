//! Evaluation on a device: the products of switching keys with digits of ciphertexts.

use super::Engine;
use solinas_schemes::lwe::{Backend, SeededMatrix, Source, Vector};
use solinas_schemes::{Control, Error as SchemeError};

/// The engine computes batches of vectors. A batch has the largest number that fits in the memory of the device.
impl Backend for Engine {
    fn multiply(
        &self,
        matrix: &SeededMatrix,
        vectors: &[Vector],
        control: &Control<'_>,
    ) -> Result<Vec<Vector>, SchemeError> {
        let mut products = Vec::with_capacity(vectors.len());
        for vectors in vectors.chunks(self.together(&matrix.layout(), vectors.len())) {
            products.extend(self.multiply_seeded(matrix, vectors, control)?);
        }
        Ok(products)
    }
}
