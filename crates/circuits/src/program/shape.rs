//! Shapes of arrays, and types of values that have a shape.

use super::Type;
use crate::Error;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

/// The most elements of an array, and of an array without its empty dimensions.
pub const MAX_ELEMENTS: u64 = 1 << 36;
/// The most dimensions of an array.
pub const MAX_RANK: usize = 32;

/// The sizes of the dimensions of an array, whose elements lie row by row. A scalar has no dimension. An array with a dimension of size 0 is empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<usize>", into = "Vec<usize>")]
pub struct Shape(SmallVec<[usize; 4]>);

impl Shape {
    /// The shape of a scalar.
    #[must_use]
    pub fn scalar() -> Self {
        Self(SmallVec::new())
    }

    /// The shape with these sizes.
    ///
    /// # Errors
    /// [`Error::LargeShape`] for more than [`MAX_RANK`] dimensions or more than [`MAX_ELEMENTS`] elements.
    pub fn new(sizes: impl IntoIterator<Item = usize>) -> Result<Self, Error> {
        let mut shape = Self(SmallVec::new());
        let mut elements = Some(1usize);
        for size in sizes {
            // Empty dimensions do not count, so that strides of empty arrays fit too.
            elements = elements.and_then(|all| all.checked_mul(size.max(1)));
            shape.0.push(size);
            if shape.0.len() > MAX_RANK {
                break;
            }
        }
        match elements {
            Some(all) if all as u64 <= MAX_ELEMENTS && shape.0.len() <= MAX_RANK => Ok(shape),
            _ => Err(Error::LargeShape { sizes: shape.0.into_vec() }),
        }
    }

    /// The shape of the elements of an array in one row.
    #[must_use]
    pub fn line(array: &Self) -> Self {
        Self(SmallVec::from_slice(&[array.size()]))
    }

    /// The number of elements.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.iter().product()
    }

    /// For each dimension, the distance of neighbours in the order of the elements.
    #[must_use]
    pub fn strides(&self) -> Strides {
        let mut strides = SmallVec::from_elem(1, self.0.len());
        for k in (1..self.0.len()).rev() {
            strides[k - 1] = strides[k] * self.0[k].max(1) as i64;
        }
        strides
    }

    /// The leading dimensions, and the last `rank` dimensions; `None` if there are fewer.
    #[must_use]
    pub fn split(&self, rank: usize) -> Option<(&[usize], &[usize])> {
        self.0.len().checked_sub(rank).map(|lead| self.0.split_at(lead))
    }

    /// The shape that two shapes broadcast to: they are aligned at the last dimension, and a dimension of size 1 repeats. `None` if they do not fit.
    ///
    /// # Errors
    /// [`Error::LargeShape`].
    pub fn broadcast(&self, other: &Self) -> Result<Option<Self>, Error> {
        let rank = self.len().max(other.len());
        let size = |shape: &Self, k: usize| (k + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
        let mut sizes = SmallVec::<[usize; 4]>::new();
        for k in 0..rank {
            sizes.push(match (size(self, k), size(other, k)) {
                (x, y) if x == y => x,
                (1, y) => y,
                (x, 1) => x,
                _ => return Ok(None),
            });
        }
        Self::new(sizes).map(Some)
    }

    /// Whether an array of this shape broadcasts to `to`.
    pub(crate) fn spreads_to(&self, to: &Self) -> bool {
        let skipped = to.len().checked_sub(self.len());
        skipped.is_some_and(|skipped| self.iter().zip(&to[skipped..]).all(|(&own, &size)| own == size || own == 1))
    }

    /// This shape with other dimensions before its own.
    ///
    /// # Errors
    /// [`Error::LargeShape`].
    pub fn under(&self, lead: &[usize]) -> Result<Self, Error> {
        Self::new(lead.iter().chain(self.iter()).copied())
    }
}

/// Distances of neighbours in the order of the elements, one for each dimension.
pub type Strides = SmallVec<[i64; 4]>;

impl Deref for Shape {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl TryFrom<Vec<usize>> for Shape {
    type Error = Error;
    fn try_from(sizes: Vec<usize>) -> Result<Self, Error> {
        Self::new(sizes)
    }
}

impl From<Shape> for Vec<usize> {
    fn from(shape: Shape) -> Self {
        shape.0.into_vec()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0[..], f)
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The type of a value: that of its elements, and its shape. Its text is that of the type, then the shape of an array: `u8`, `u8[3, 4]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ValueType {
    /// Type of each element.
    pub ty: Type,
    /// Shape; that of a scalar for one value.
    pub shape: Shape,
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ty)?;
        if self.shape.is_empty() { Ok(()) } else { write!(f, "{}", self.shape) }
    }
}

impl FromStr for ValueType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let Some((ty, sizes)) = text.split_once('[') else {
            return Ok(Self { ty: text.parse()?, shape: Shape::scalar() });
        };
        let unknown = || Error::UnknownType { name: text.to_owned() };
        let sizes = sizes.strip_suffix(']').ok_or_else(unknown)?;
        let size = |size: &str| size.trim().parse().ok().filter(|_| !size.trim().starts_with('+'));
        let sizes: Option<Vec<usize>> = sizes.split(',').map(size).collect();
        Ok(Self { ty: ty.parse()?, shape: Shape::new(sizes.ok_or_else(unknown)?)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(sizes: &[usize]) -> Shape {
        Shape::new(sizes.iter().copied()).unwrap()
    }

    #[test]
    fn shapes_broadcast_as_in_numpy() {
        for (a, b, want) in [
            (&[][..], &[][..], Some(&[][..])),
            (&[3], &[], Some(&[3])),
            (&[2, 1], &[3], Some(&[2, 3])),
            (&[2, 1], &[0], Some(&[2, 0])),
            (&[1], &[0], Some(&[0])),
            (&[2], &[3], None),
            (&[0], &[2], None),
            (&[4, 1, 3], &[2, 1], Some(&[4, 2, 3])),
        ] {
            let want = want.map(shape);
            assert_eq!(shape(a).broadcast(&shape(b)).unwrap(), want, "{a:?} {b:?}");
            assert_eq!(shape(b).broadcast(&shape(a)).unwrap(), want, "{b:?} {a:?}");
            let one = want.is_some_and(|want| want == shape(b));
            assert_eq!(shape(a).spreads_to(&shape(b)), one, "{a:?} to {b:?}");
        }
        assert_eq!(shape(&[2, 3, 4]).strides()[..], [12, 4, 1]);
    }

    #[test]
    fn absurd_shapes_are_refused() {
        for sizes in [&[1usize << 37][..], &[1 << 30, 1 << 7], &[usize::MAX, usize::MAX], &[0, usize::MAX], &[1; 33]] {
            assert!(matches!(Shape::new(sizes.iter().copied()), Err(Error::LargeShape { .. })), "{sizes:?}");
        }
        assert!(shape(&[1 << 20, 1 << 10]).broadcast(&shape(&[1 << 20, 1, 1])).is_err());
        assert_eq!(shape(&[0, 1 << 36]).size(), 0);
    }

    #[test]
    fn types_of_values_are_texts() {
        for text in ["u8", "bool[3]", "mod257[2, 0]", "i2048[3, 4, 5]"] {
            assert_eq!(text.parse::<ValueType>().unwrap().to_string(), text);
        }
        assert_eq!("u8[3,4]".parse::<ValueType>().unwrap().to_string(), "u8[3, 4]");
        for text in ["u8[", "u8[]", "u8[3]x", "u8[-1]", "u8[+1]", "u8[1 2]", "[3]", "u8[68719476737]"] {
            assert!(text.parse::<ValueType>().is_err(), "{text}");
        }
    }
}
