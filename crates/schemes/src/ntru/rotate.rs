//! Rotations of slots.

use core::fmt;
use std::sync::Arc;

use crate::control::Steps;
use crate::{KeyId, Level, Noise, RotateSlots};
use rayon::prelude::*;
use solinas_field::prime::{Modulus, primes};
use solinas_ring::{Automorphism, Basis, Eval, Hybrid, ModDown, RnsPoly, sample};

use super::context::Context;
use super::estimate::withstands;
use super::evaluate::Value;
use super::params::SECURITY_BITS;
use super::switch::{Switch, Target, special_primes, variance};
use super::{ClientKey, Error, Ntru, Params, PublicKey, SCHEME, ServerKey};
use crate::leveled::{Evaluator, Numbers};
use crate::security::Status;
use crate::slots::{self, SlotEncoder};

/// A permutation of the slots, which are two rows of `n/2` (see [`SlotEncoder`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rotation {
    /// Both rows rotated by this number `k` of places to the left: slot `i` receives slot `i + k`, modulo `n/2`. A negative number rotates to the right.
    Left(i64),
    /// The rows change places.
    Swap,
}

impl Rotation {
    /// The rotations of which every other one is composed: rotations by powers of two, from 1 to a quarter of the
    /// slots, and then the swap of the rows.
    pub fn all(params: &Params) -> Vec<Self> {
        let powers = (0..params.dimension().ilog2() - 1).map(|log2| Self::Left(1 << log2));
        powers.chain([Self::Swap]).collect()
    }

    /// The exponent of its automorphism.
    fn exponent(self, dimension: usize) -> usize {
        match self {
            Self::Left(steps) => slots::rotation_exponent(dimension, steps),
            Self::Swap => slots::swap_exponent(dimension),
        }
    }
}

impl fmt::Display for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Left(steps) => write!(f, "a rotation by {steps}"),
            Self::Swap => f.write_str("a swap of the rows"),
        }
    }
}

/// The special primes of rotation keys.
pub(super) fn special_moduli(params: &Params) -> Result<Vec<Modulus>, Error> {
    let used = params.moduli();
    let bits = used.iter().map(|q| q.bits()).max().unwrap_or(0);
    let count = special_primes(used.len());
    let mut special = primes(bits, used.len() + count, 2 * params.dimension() as u64)?;
    special.retain(|q| !used.contains(q));
    special.truncate(count);
    Ok(special)
}

/// The special primes, of parameters whose slots can be rotated.
fn rotatable(params: &Params) -> Result<Vec<Modulus>, Error> {
    params.slots()?;
    if params.dimension_at(Level::LOWEST) < params.dimension() {
        let problem = "rings are reduced (`floor`), and slots are rotated in the whole ring".into();
        return Err(Error::Params { scheme: SCHEME, name: params.name().into(), problem });
    }
    special_moduli(params)
}

/// Noise that a rotation adds at each level, from the lowest.
///
/// # Errors
/// As [`ClientKey::server_key_with`], where the parameters have no such keys.
pub(super) fn added(params: &Params) -> Result<Vec<Noise>, Error> {
    let log2 = |moduli: &[Modulus]| moduli.iter().map(|q| libm::log2(q.value() as f64)).collect::<Vec<_>>();
    let (special, p) = (log2(&rotatable(params)?), params.plaintext_modulus());
    let variance = |level| variance(params, p, &log2(&params.moduli()[..params.towers(level)]), &special);
    let of_level = |level| Noise::from_log2(0.5 * libm::log2(variance(level)));
    Ok(Level::LOWEST.up_to(params.fresh_level()).map(of_level).collect())
}

/// The plans of a parameter set, and the special primes they take.
#[derive(Debug)]
struct Plan {
    special: Vec<Modulus>,
    /// From level 1.
    levels: Vec<Switch>,
    /// Noise that a rotation adds, from level 1.
    added: Vec<Noise>,
}

impl Plan {
    fn new(context: &Context) -> Result<Self, Error> {
        let params = &context.params;
        let (special, n) = (rotatable(params)?, params.dimension());
        let level = |level| {
            let basis = &context.level(level).basis;
            Switch::new(basis, &Basis::new(n, &special, basis.backend())?, params.plaintext_modulus())
        };
        let levels = Level::LOWEST.up_to(params.fresh_level()).map(level).collect::<Result<_, Error>>()?;
        Ok(Self { special, levels, added: added(params)? })
    }

    fn log2_special(&self) -> Vec<f64> {
        self.special.iter().map(|q| libm::log2(q.value() as f64)).collect()
    }
}

/// A rotation's automorphism, and its rows at every level, from level 1.
#[derive(Clone)]
pub(super) struct Keys {
    rotation: Rotation,
    automorphism: Automorphism,
    rows: Vec<Vec<RnsPoly<Eval>>>,
}

/// The part of a server key that rotations need, at every level.
///
/// Rotation keys are for research only. A row is a function of the key under itself, and modulo special primes beside those of `Q`. The security of a set of
/// 128 bits covers neither.
#[derive(Clone)]
pub struct RotationKey {
    id: KeyId,
    dimension: usize,
    plan: Arc<Plan>,
    rotations: Vec<Keys>,
}

impl fmt::Debug for RotationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rotations: Vec<_> = self.rotations().collect();
        f.debug_struct("RotationKey").field("id", &self.id).field("rotations", &rotations).finish_non_exhaustive()
    }
}

impl PartialEq for RotationKey {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.rotations().eq(other.rotations()) && self.polynomials().eq(other.polynomials())
    }
}

impl RotationKey {
    /// From its parts, as stored: the rotations, and the words of the polynomials in the order of [`Self::polynomials`].
    ///
    /// # Errors
    /// [`Error::Slots`]; [`Error::Material`] for another number of polynomials; [`Error::Ring`] for words that are no residues.
    pub fn from_parts<'w>(
        public: &PublicKey,
        rotations: &[Rotation],
        words: impl IntoIterator<Item = &'w [u64]>,
    ) -> Result<Self, Error> {
        let plan = Plan::new(public.context())?;
        let mut words = words.into_iter();
        let error = |problem: &str| Error::Material { part: "rotation key", problem: problem.into() };
        let key = Self::build(public, plan, rotations, |_, switch, _| {
            let words = words.next().ok_or_else(|| error("a polynomial is missing"))?;
            Ok(RnsPoly::from_words(switch.extended(), words)?)
        })?;
        if words.next().is_some() { Err(error("more polynomials than rotations have")) } else { Ok(key) }
    }

    /// With rows by `row(index, plans of the level, ..)`.
    fn build(
        public: &PublicKey,
        plan: Plan,
        rotations: &[Rotation],
        mut row: impl FnMut(usize, &Switch, &Automorphism) -> Result<RnsPoly<Eval>, Error>,
    ) -> Result<Self, Error> {
        let basis = &public.context().level(Level::LOWEST).basis;
        let mut index = 0..;
        let mut of_rotation = |&rotation: &Rotation| {
            let automorphism = Automorphism::new(basis, rotation.exponent(basis.dimension()))?;
            let mut of_level = |switch: &Switch| {
                (0..switch.rows()).map(|_| row(index.next().unwrap_or(0), switch, &automorphism)).collect()
            };
            let rows = plan.levels.iter().map(&mut of_level).collect::<Result<_, Error>>()?;
            Ok(Keys { rotation, automorphism, rows })
        };
        let rotations = rotations.iter().map(&mut of_rotation).collect::<Result<_, Error>>()?;
        Ok(Self { id: public.id(), dimension: basis.dimension(), plan: Arc::new(plan), rotations })
    }

    /// Words of each polynomial of a rotation, in the order of [`Self::polynomials`].
    ///
    /// # Errors
    /// As [`ClientKey::server_key_with`], where the parameters have no such keys.
    pub fn sizes(params: &Params) -> Result<Vec<usize>, Error> {
        let special = rotatable(params)?.len();
        let of_level = |level| {
            let towers = params.towers(level);
            std::iter::repeat_n((towers + special) * params.dimension(), towers.div_ceil(special))
        };
        Ok(Level::LOWEST.up_to(params.fresh_level()).flat_map(of_level).collect())
    }

    /// The keys of a rotation, if there are any.
    pub(super) fn keys(&self, rotation: Rotation) -> Option<&Keys> {
        let exponent = rotation.exponent(self.dimension);
        self.rotations.iter().find(|keys| keys.automorphism.exponent() == exponent)
    }

    /// The rotations it has.
    pub fn rotations(&self) -> impl Iterator<Item = Rotation> {
        self.rotations.iter().map(|keys| keys.rotation)
    }

    /// All that it consists of: of each rotation, of each level from the first, the rows.
    pub fn polynomials(&self) -> impl Iterator<Item = &RnsPoly<Eval>> {
        self.rotations.iter().flat_map(|keys| &keys.rows).flatten()
    }

    /// Bytes of its polynomials.
    pub fn bytes(&self) -> usize {
        self.polynomials().map(|poly| size_of_val(poly.words())).sum()
    }

    /// Identity of the key pair that it belongs to.
    pub fn id(&self) -> KeyId {
        self.id
    }
}

/// The reason why rotation keys with a modulus of `log2_modulus` bits are for research only, if the parameters are not.
pub(super) fn why_research(params: &Params, log2_modulus: f64) -> String {
    let circular = "rotation keys publish functions of the keys under themselves, which the estimate does not cover";
    if withstands(params.dimension(), log2_modulus, params.literal().keys.variances(), SECURITY_BITS) {
        return circular.into();
    }
    format!("{circular}, and are modulo {log2_modulus:.0} bits, which have less than {SECURITY_BITS} bits of security")
}

/// Rotation keys that a caller asks for.
pub(super) struct Request<'a> {
    rotations: &'a [Rotation],
    plan: Plan,
}

impl<'a> Request<'a> {
    /// Checks the request: see [`ClientKey::server_key_with`].
    pub(super) fn new(context: &Context, rotations: &'a [Rotation], research: bool) -> Result<Self, Error> {
        let (params, plan) = (&context.params, Plan::new(context)?);
        if !research && params.security().status == Status::Recommended {
            let log2_modulus = params.log2_modulus(params.fresh_level()) + plan.log2_special().iter().sum::<f64>();
            let why = why_research(params, log2_modulus);
            return Err(Error::ResearchOnly { name: params.name().into(), why });
        }
        Ok(Self { rotations, plan })
    }
}

impl ClientKey {
    /// Makes the keys of rotations for every level, on the current thread pool; each row is a step.
    pub(super) fn rotation_key(&self, request: Request<'_>, steps: &Steps<'_>) -> Result<RotationKey, Error> {
        let Request { rotations, plan } = request;
        let seed = self.public().secret_seed("rotations")?;
        let context = self.public().context();
        let params = &context.params;
        let gaussian = sample::Gaussian::new(params.sigma())?;
        let targets = plan
            .levels
            .iter()
            .zip(Level::LOWEST.up_to(params.fresh_level()))
            .map(|(switch, level)| Target::new(switch, self.level_key(level)));
        let targets = targets.collect::<Result<Vec<_>, Error>>()?;
        // Row by row in parallel, then put together in order.
        let mut wanted = Vec::new();
        for &rotation in rotations {
            let automorphism =
                Automorphism::new(&context.level(Level::LOWEST).basis, rotation.exponent(params.dimension()))?;
            for (switch, target) in plan.levels.iter().zip(&targets) {
                wanted.extend((0..switch.rows()).map(|group| (automorphism.clone(), target, group)));
            }
        }
        let make = |(index, (automorphism, target, group)): (usize, &(Automorphism, &Target<'_>, usize))| {
            let e = gaussian.draw_many(&mut seed.stream(index as u64), params.dimension());
            let row = target.row(automorphism, *group, e)?;
            steps.next()?;
            Ok(row)
        };
        let rows = wanted.par_iter().enumerate().map(make).collect::<Result<Vec<_>, Error>>()?;
        drop(wanted);
        drop(targets);
        let mut rows = rows.into_iter();
        let error = || Error::Material { part: "rotation key", problem: "a polynomial is missing".into() };
        RotationKey::build(self.public(), plan, rotations, |_, _, _| rows.next().ok_or_else(error))
    }
}

impl ServerKey {
    /// The key switch of a rotation at a level.
    ///
    /// # Errors
    /// [`Error::NoRotationKey`].
    pub fn slot_switch(&self, rotation: Rotation, level: Level) -> Result<SlotSwitch<'_>, Error> {
        let found = self.rotation_key().and_then(|key| Some((&*key.plan, key.keys(rotation)?)));
        let (plan, Keys { automorphism, rows, .. }) = found.ok_or_else(|| {
            let have = self.rotation_key().into_iter().flat_map(RotationKey::rotations);
            let have: Vec<String> = have.map(|rotation| rotation.to_string()).collect();
            let have = if have.is_empty() { "none".into() } else { have.join(", ") };
            Error::NoRotationKey { rotation: rotation.to_string(), have }
        })?;
        let level = level.index();
        Ok(SlotSwitch { plan: &plan.levels[level], added: plan.added[level], automorphism, rows: &rows[level] })
    }
}

/// The key switch of a rotation at one level.
#[derive(Debug)]
pub struct SlotSwitch<'a> {
    plan: &'a Switch,
    /// Noise that the rotation adds.
    pub(super) added: Noise,
    /// The automorphism.
    pub automorphism: &'a Automorphism,
    /// Its key: a polynomial for each group of towers.
    pub rows: &'a [RnsPoly<Eval>],
}

impl SlotSwitch<'_> {
    pub(super) fn apply(&self, x: &RnsPoly<Eval>) -> Result<RnsPoly<Eval>, Error> {
        self.plan.apply(x, self.automorphism, self.rows)
    }

    /// The decomposition into digits.
    pub fn hybrid(&self) -> &Hybrid {
        self.plan.hybrid()
    }

    /// The division that ends the switch.
    pub fn down(&self) -> &ModDown {
        self.plan.down()
    }
}

impl<B: Numbers<Ntru>> RotateSlots for Evaluator<Ntru, B> {
    type Ciphertext = Value<B>;

    fn slot_count(&self) -> usize {
        self.key().params().dimension()
    }

    fn encoder(&self) -> Result<SlotEncoder, Error> {
        self.key().params().slots()
    }

    fn rotate(&self, x: &Value<B>, step: i64) -> Result<Value<B>, Error> {
        self.permute_slots(x, Rotation::Left(step))
    }

    fn swap_rows(&self, x: &Value<B>) -> Result<Value<B>, Error> {
        self.permute_slots(x, Rotation::Swap)
    }
}
