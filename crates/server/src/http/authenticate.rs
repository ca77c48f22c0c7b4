//! Authentication of a request: by a token of the service, by a token of an OpenID Connect issuer, or by a client's certificate.

use crate::auth::{Certificate, Claimed, bearer};
use crate::error::{Code, Error, Problem};
use crate::id::{Scope, Tenant, Token};
use crate::jobs::app::App;
use axum::http::request::Parts;
use axum::http::{HeaderName, header};
use std::sync::Arc;

/// Headers that only browsers send. A page of another site cannot leave out both.
const OF_BROWSERS: [HeaderName; 2] = [header::ORIGIN, HeaderName::from_static("sec-fetch-site")];

/// The tenant of a request, and what the request may do. A token counts more than a certificate.
pub(super) async fn authenticate(app: &Arc<App>, request: &Parts) -> Result<(Tenant, Vec<Scope>), Problem> {
    let claimed = match (request.headers.get(header::AUTHORIZATION), request.extensions.get()) {
        (None, Some(certificate)) => of_certificate(app, certificate, request)?,
        (None, None) => return Err(refused("the request has no token")),
        (Some(_), _) => {
            let token = bearer(&request.headers);
            let token = token.ok_or_else(|| refused("the header Authorization has no bearer token"))?;
            match &app.oidc {
                Some(oidc) if !token.starts_with(Token::CLIENT) && token.matches('.').count() == 2 => {
                    let (oidc, token) = (Arc::clone(oidc), token.to_owned());
                    // A task of its own: others wait for the keys of the issuer too, and this client may break off.
                    let checked = tokio::spawn(async move { oidc.check(&token).await }).await;
                    checked.unwrap_or_else(|error| Err(Error::System(error.to_string()).into()))?
                }
                _ => return of_token(app, token.to_owned()).await,
            }
        }
    };
    let Claimed { tenant, scopes } = claimed;
    let found = app.blocking(move |app| tenant_of(app, &tenant)).await?;
    Ok((found, scopes))
}

fn refused(detail: &str) -> Problem {
    Problem::new(
        Code::Unauthorized,
        detail,
        format!("send the header `Authorization: Bearer {}...` with a valid token", Token::CLIENT),
    )
}

/// The holder of a token of the service.
async fn of_token(app: &Arc<App>, token: String) -> Result<(Tenant, Vec<Scope>), Problem> {
    let known = app.blocking(move |app| Ok(app.store.authenticate(&token)?)).await?;
    known.ok_or_else(|| refused("the token is unknown, has expired, or was revoked"))
}

/// The holder of a certificate. Browsers add certificates to the requests of every page, so a request of a browser needs a token, which only the right
/// page has.
fn of_certificate(app: &App, certificate: &Certificate, request: &Parts) -> Result<Claimed, Problem> {
    if OF_BROWSERS.iter().any(|name| request.headers.contains_key(name)) {
        return Err(refused("the request of a browser has no token, and its certificate does not count"));
    }
    let client = certificate.find(app.config.mutual_tls.as_ref())?;
    Ok(Claimed { tenant: client.tenant.clone(), scopes: client.scopes.clone() })
}

/// The tenant of this name, if the operator has made it.
fn tenant_of(app: &App, name: &str) -> Result<Tenant, Problem> {
    match app.store.tenant(name) {
        Ok(Some(tenant)) => Ok(tenant),
        Ok(None) => Err(Problem::new(
            Code::Forbidden,
            format!("the service has no tenant {name:?}"),
            format!("let its operator make it with `solinas admin tenant {name} --create`"),
        )),
        Err(error @ Error::Id(_)) => Err(Problem::of(Code::Forbidden, &error)),
        Err(error) => Err(error.into()),
    }
}
