//! Tenants and their tokens.

use super::{Store, record};
use crate::error::Error;
use crate::id::{Id, Scope, Tenant, Token, token_hash};
use crate::time::{self, SECOND};
use serde::Serialize;

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TokenInfo {
    /// The identity, for [`Store::revoke`].
    pub id: String,
    /// The tenant.
    pub tenant: String,
    /// What it allows, separated by commas.
    pub scopes: String,
    /// When it was made.
    pub created: String,
    /// When it ends, if ever.
    pub expires: Option<String>,
    /// When it was last used, to the minute.
    pub last_used: Option<String>,
}

/// Stands for a tenant in tokens of workers. No tenant has this name.
const WORKERS: &str = "-";

/// The quotas of a tenant that differ from the limits of the service.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Quota {
    pub(crate) core_seconds_a_day: Option<f64>,
    pub(crate) stored_bytes: Option<u64>,
    pub(crate) live_jobs: Option<u64>,
}

/// Makes a tenant, unless it is there.
const NEW_TENANT: &str = "INSERT INTO tenant (name, created) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING";

impl Store {
    /// Makes a tenant, unless it is there. Callers with tokens of an issuer or with certificates need no token of the service.
    ///
    /// # Errors
    /// A name that no tenant can have; from the database.
    pub fn create_tenant(&self, name: &str) -> Result<(), Error> {
        self.db().execute(NEW_TENANT, (Tenant::new(name)?.as_str(), time::now()))?;
        Ok(())
    }

    /// Whether anybody has made a tenant, or a token of one.
    pub(crate) fn has_tenants(&self) -> Result<bool, Error> {
        self.db().exists("SELECT 1 FROM tenant WHERE name <> ?1", [WORKERS])
    }

    /// The tenant of an authenticated caller, if there is one of this name.
    ///
    /// # Errors
    /// A name that no tenant can have; from the database.
    pub(crate) fn tenant(&self, name: &str) -> Result<Option<Tenant>, Error> {
        let tenant = Tenant::new(name)?;
        let known = self.db().exists("SELECT 1 FROM tenant WHERE name = ?1", [tenant.as_str()])?;
        Ok(known.then_some(tenant))
    }

    /// Makes a token for a tenant, who is made too if it is new. `days` is the time to its end.
    ///
    /// # Errors
    /// A name that no tenant can have; [`Error::WorkScope`]; from the database.
    pub fn create_token(&self, tenant: &str, scopes: &[Scope], days: Option<u32>) -> Result<Token, Error> {
        if scopes.contains(&Scope::Work) {
            return Err(Error::WorkScope);
        }
        self.add_token(Tenant::new(tenant)?.as_str(), scopes, days, Token::CLIENT)
    }

    /// Makes a token for workers on further machines. It has the scope [`Scope::Work`] and no tenant.
    ///
    /// # Errors
    /// From the database.
    pub fn create_worker_token(&self, days: Option<u32>) -> Result<Token, Error> {
        self.add_token(WORKERS, &[Scope::Work], days, Token::WORKER)
    }

    fn add_token(&self, tenant: &str, scopes: &[Scope], days: Option<u32>, prefix: &str) -> Result<Token, Error> {
        let token = Token::new(prefix).map_err(|error| Error::System(format!("there is no randomness: {error}")))?;
        let now = time::now();
        let names: Vec<_> = scopes.iter().map(|scope| scope.name()).collect();
        let expires = days.map(|days| now + i64::from(days) * time::DAY);
        let db = self.db();
        let transaction = db.transaction()?;
        transaction.execute(NEW_TENANT, (tenant, now))?;
        transaction.execute(
            "INSERT INTO token (hash, id, tenant, scopes, created, expires) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (token_hash(token.secret()), Id::new().to_string(), tenant, names.join(","), now, expires),
        )?;
        transaction.commit()?;
        Ok(token)
    }

    /// All tokens, the oldest first.
    ///
    /// # Errors
    /// From the database.
    pub fn tokens(&self) -> Result<Vec<TokenInfo>, Error> {
        let db = self.db();
        let sql = "SELECT id, tenant, scopes, created, expires, last_used FROM token ORDER BY id";
        db.query(sql, (), |row| {
            let time = |at: Option<i64>| at.map(time::text);
            Ok(TokenInfo {
                id: row.get(0)?,
                tenant: row.get(1)?,
                scopes: row.get(2)?,
                created: time::text(row.get(3)?),
                expires: time(row.get(4)?),
                last_used: time(row.get(5)?),
            })
        })
    }

    /// Ends a token. Requests with it are refused from now on.
    ///
    /// # Errors
    /// [`Error::Missing`] if there is no such token.
    pub fn revoke(&self, id: &str) -> Result<(), Error> {
        match self.db().execute("DELETE FROM token WHERE id = ?1", [id])? {
            0 => Err(Error::Missing {
                what: "token",
                name: id.to_owned(),
                help: "`solinas admin token list` prints the identities",
            }),
            _ => Ok(()),
        }
    }

    /// Changes quotas of a tenant. A quota that is not given stays.
    ///
    /// # Errors
    /// [`Error::Missing`] if there is no such tenant.
    pub fn set_quota(
        &self,
        tenant: &str,
        core_seconds_a_day: Option<f64>,
        stored_bytes: Option<u64>,
        live_jobs: Option<u64>,
    ) -> Result<(), Error> {
        let signed = |value: Option<u64>| value.map(|value| i64::try_from(value).unwrap_or(i64::MAX));
        let changed = self.db().execute(
            "UPDATE tenant SET core_seconds_a_day = COALESCE(?2, core_seconds_a_day), stored_bytes = COALESCE(?3, stored_bytes), \
             live_jobs = COALESCE(?4, live_jobs) WHERE name = ?1",
            (tenant, core_seconds_a_day, signed(stored_bytes), signed(live_jobs)),
        )?;
        match changed {
            0 => Err(Error::Missing {
                what: "tenant",
                name: tenant.to_owned(),
                help: "`solinas admin tenant NAME --create` makes one",
            }),
            _ => Ok(()),
        }
    }

    pub(crate) fn quota(&self, tenant: &Tenant) -> Result<Quota, Error> {
        let sql = "SELECT core_seconds_a_day, stored_bytes, live_jobs FROM tenant WHERE name = ?1";
        self.db().query_row(sql, [tenant.as_str()], |row| {
            let unsigned = |value: Option<i64>| value.map(|value| value.unsigned_abs());
            Ok(Quota {
                core_seconds_a_day: row.get(0)?,
                stored_bytes: unsigned(row.get(1)?),
                live_jobs: unsigned(row.get(2)?),
            })
        })
    }

    /// The tenant and the scopes of a token. None for an unknown token, for one that has ended, and for one of workers.
    pub(crate) fn authenticate(&self, token: &str) -> Result<Option<(Tenant, Vec<Scope>)>, Error> {
        match self.find_token(token)? {
            Some((_, tenant, scopes)) if tenant != WORKERS => {
                let scopes = scopes.split(',').filter_map(|scope| scope.parse().ok()).collect();
                Ok(Some((Tenant::new(&tenant)?, scopes)))
            }
            _ => Ok(None),
        }
    }

    /// The identity of a token of workers. None for every other one.
    pub(crate) fn authenticate_worker(&self, token: &str) -> Result<Option<String>, Error> {
        let found = self.find_token(token)?;
        Ok(found.filter(|(_, tenant, _)| tenant == WORKERS).map(|(id, ..)| id))
    }

    /// The identity, the tenant and the scopes of a token that has not ended.
    fn find_token(&self, token: &str) -> Result<Option<(String, String, String)>, Error> {
        let (hash, now) = (token_hash(token), time::now());
        let db = self.db();
        let sql = "SELECT tenant, scopes, expires, last_used, id FROM token WHERE hash = ?1";
        let row = db.query_opt(sql, [&hash], |row| {
            let (tenant, scopes, id): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(4)?);
            Ok((tenant, scopes, row.get::<Option<i64>>(2)?, row.get::<Option<i64>>(3)?, id))
        });
        let Some((tenant, scopes, expires, used, id)) = row? else { return Ok(None) };
        if expires.is_some_and(|end| end <= now) {
            return Ok(None);
        }
        if used.is_none_or(|used| now - used > 60 * SECOND) {
            record(db.execute("UPDATE token SET last_used = ?2 WHERE hash = ?1", (&hash, now)));
        }
        Ok(Some((id, tenant, scopes)))
    }
}
