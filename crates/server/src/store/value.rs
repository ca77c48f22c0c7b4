//! Values of parameters and columns.

use bytes::BytesMut;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use std::error::Error;
use tokio_postgres::types::{self as postgres, IsNull, Type};

/// A value of a parameter or a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
        }))
    }
}

impl FromSql for Value {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(value) => Self::Integer(value),
            ValueRef::Real(value) => Self::Real(value),
            ValueRef::Text(_) => Self::Text(value.as_str()?.to_owned()),
            ValueRef::Blob(_) => return Err(FromSqlError::InvalidType),
        })
    }
}

impl postgres::ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self, ty) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Integer(value), &Type::INT8) => value.to_sql(ty, out),
            (Self::Integer(value), &Type::INT4) => i32::try_from(*value)?.to_sql(ty, out),
            (Self::Integer(value), &Type::FLOAT8) => (*value as f64).to_sql(ty, out),
            (Self::Real(value), &Type::FLOAT8) => value.to_sql(ty, out),
            // PostgreSQL has no text with such a character.
            (Self::Text(value), &Type::TEXT | &Type::VARCHAR) => value.replace('\0', "\u{fffd}").to_sql(ty, out),
            (value, ty) => Err(format!("the parameter {value:?} is not of type {ty}").into()),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::INT8, Type::INT4, Type::FLOAT8, Type::TEXT, Type::VARCHAR].contains(ty)
    }

    postgres::to_sql_checked!();
}

impl<'a> postgres::FromSql<'a> for Value {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *ty {
            Type::INT8 => Self::Integer(i64::from_sql(ty, raw)?),
            Type::INT4 => Self::Integer(i32::from_sql(ty, raw)?.into()),
            Type::BOOL => Self::Integer(bool::from_sql(ty, raw)?.into()),
            Type::FLOAT8 => Self::Real(f64::from_sql(ty, raw)?),
            _ => Self::Text(String::from_sql(ty, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::BOOL || <Self as postgres::ToSql>::accepts(ty)
    }
}

/// A type of columns.
pub(super) trait Column: Sized {
    /// None for a value of another type.
    fn of(value: Value) -> Option<Self>;
}

impl Column for i64 {
    fn of(value: Value) -> Option<Self> {
        if let Value::Integer(value) = value { Some(value) } else { None }
    }
}

impl Column for u8 {
    fn of(value: Value) -> Option<Self> {
        i64::of(value)?.try_into().ok()
    }
}

impl Column for f64 {
    fn of(value: Value) -> Option<Self> {
        match value {
            Value::Real(value) => Some(value),
            Value::Integer(value) => Some(value as Self),
            _ => None,
        }
    }
}

impl Column for String {
    fn of(value: Value) -> Option<Self> {
        if let Value::Text(value) = value { Some(value) } else { None }
    }
}

impl<T: Column> Column for Option<T> {
    fn of(value: Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::of(value).map(Some),
        }
    }
}

/// A type of parameters.
pub(super) trait Param {
    fn value(&self) -> Value;
}

impl Param for i64 {
    fn value(&self) -> Value {
        Value::Integer(*self)
    }
}

impl Param for u8 {
    fn value(&self) -> Value {
        Value::Integer((*self).into())
    }
}

impl Param for f64 {
    fn value(&self) -> Value {
        Value::Real(*self)
    }
}

impl Param for str {
    fn value(&self) -> Value {
        Value::Text(self.to_owned())
    }
}

impl Param for String {
    fn value(&self) -> Value {
        Value::Text(self.clone())
    }
}

impl<T: Param> Param for Option<T> {
    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Null, Param::value)
    }
}

impl<T: Param + ?Sized> Param for &T {
    fn value(&self) -> Value {
        (*self).value()
    }
}

/// The parameters of a statement: nothing, an array, a tuple, or values that [`params!`] made.
pub(super) trait Params {
    fn values(self) -> Vec<Value>;
}

impl Params for () {
    fn values(self) -> Vec<Value> {
        Vec::new()
    }
}

impl Params for Vec<Value> {
    fn values(self) -> Vec<Value> {
        self
    }
}

impl<T: Param, const N: usize> Params for [T; N] {
    fn values(self) -> Vec<Value> {
        self.iter().map(Param::value).collect()
    }
}

macro_rules! tuples {
    ($($($name:ident)+;)*) => {
        $(impl<$($name: Param),+> Params for ($($name,)+) {
            #[allow(non_snake_case, reason = "the names of types are those of values")]
            fn values(self) -> Vec<Value> {
                let ($($name,)+) = self;
                vec![$($name.value()),+]
            }
        })*
    };
}

tuples! {
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}

/// Parameters in any number.
macro_rules! params {
    ($($value:expr),+ $(,)?) => { vec![$($crate::store::value::Param::value(&$value)),+] };
}
pub(super) use params;
