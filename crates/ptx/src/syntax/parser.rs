//! Declarations, scopes and statements.

use std::collections::BTreeMap;

use super::body::{Body, MAX_REGISTERS, MAX_SHARED, SHARED_START, Scope};
use super::lexer::{Spot, Token, tokens};
use super::{Entry, File, Operand, Parameter, Special, Statement, Symbol, Symbols, Type};
use crate::error::ParseError;

/// Constant memory of a module, bytes, at most.
const MAX_CONST: u64 = 1 << 16;
struct Parser<'a> {
    text: &'a str,
    spots: Vec<Spot>,
    at: usize,
    file: File,
    symbols: Symbols,
    /// Names of dynamic shared arrays.
    dynamic: Vec<String>,
    /// Names of module arrays in global memory, which kernels cannot use.
    globals: Vec<String>,
}

/// Reads a PTX file.
pub(crate) fn parse(text: &str) -> Result<File, ParseError> {
    let mut parser = Parser {
        text,
        spots: tokens(text)?,
        at: 0,
        file: File::default(),
        symbols: Symbols::new(),
        dynamic: Vec::new(),
        globals: Vec::new(),
    };
    while *parser.peek() != Token::End {
        parser.directive()?;
    }
    Ok(parser.file)
}

impl Parser<'_> {
    fn spot(&self) -> &Spot {
        &self.spots[self.at]
    }

    fn peek(&self) -> &Token {
        &self.spots[self.at].token
    }

    /// The token after the next one.
    fn second(&self) -> &Token {
        self.spots.get(self.at + 1).map_or(&Token::End, |spot| &spot.token)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if token != Token::End {
            self.at += 1;
        }
        token
    }

    fn error<T>(&self, what: impl Into<String>) -> Result<T, ParseError> {
        self.spot().error(what)
    }

    fn accept(&mut self, mark: char) -> bool {
        let found = *self.peek() == Token::Mark(mark);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, mark: char) -> Result<(), ParseError> {
        if self.accept(mark) { Ok(()) } else { self.error(format!("expected `{mark}`")) }
    }

    fn name(&mut self) -> Result<String, ParseError> {
        if let Token::Name(name) = self.peek() {
            let name = name.clone();
            self.at += 1;
            return Ok(name);
        }
        self.error("expected a name")
    }

    fn integer(&mut self) -> Result<u64, ParseError> {
        let negative = self.accept('-');
        if let Token::Integer(value) = *self.peek() {
            self.at += 1;
            return Ok(if negative { value.wrapping_neg() } else { value });
        }
        self.error("expected an integer")
    }

    fn small(&mut self, limit: u64, what: &str) -> Result<u32, ParseError> {
        let spot = self.spot().clone();
        let value = self.integer()?;
        if value > limit { spot.error(format!("{what} is at most {limit}")) } else { Ok(value as u32) }
    }

    /// `.name`, with `::` parts joined.
    fn dotted(&mut self) -> Result<String, ParseError> {
        self.expect('.')?;
        let mut name = self.name()?;
        while *self.peek() == Token::Mark(':') && *self.second() == Token::Mark(':') {
            self.at += 2;
            name += "::";
            name += &self.name()?;
        }
        Ok(name)
    }

    /// A directive at the level of the module.
    fn directive(&mut self) -> Result<(), ParseError> {
        let spot = self.spot().clone();
        let name = self.dotted()?;
        match name.as_str() {
            "version" => {
                let major = self.integer()?;
                self.expect('.')?;
                let minor = self.integer()?;
                if (major, minor) > (8, 4) {
                    return spot.error(format!("PTX ISA {major}.{minor} is newer than 8.4; compile with NVRTC 12.4"));
                }
            }
            "target" => {
                self.name()?;
                while self.accept(',') {
                    self.name()?;
                }
            }
            "address_size" => {
                if self.integer()? != 64 {
                    return spot.error("addresses must have 64 bits");
                }
            }
            "visible" | "weak" | "extern" => {}
            "entry" => self.entry()?,
            "const" | "global" | "shared" => self.variable(&name)?,
            _ => return spot.error(format!(".{name} is not supported here")),
        }
        Ok(())
    }

    /// `.align N .type name[count] = {..}` after its state space. Returns alignment, bytes, name and initial bytes.
    fn declaration(&mut self) -> Result<(u32, Option<u64>, String, Vec<u8>), ParseError> {
        let spot = self.spot().clone();
        let mut align = None;
        let mut element = None;
        let mut lanes = 1;
        while *self.peek() == Token::Mark('.') {
            let name = self.dotted()?;
            match name.as_str() {
                "align" => {
                    let value = self.small(1024, "an alignment")?;
                    if !value.is_power_of_two() {
                        return spot.error("an alignment is a power of 2");
                    }
                    align = Some(value);
                }
                "ptr" | "global" | "shared" | "const" => {}
                "v2" => lanes = 2,
                "v4" => lanes = 4,
                _ => match Type::named(&name) {
                    Some(ty) if ty != Type::Pred => element = Some(ty),
                    _ => return spot.error(format!(".{name} is not supported in a declaration")),
                },
            }
        }
        let Some(element) = element else { return spot.error("a declaration without a type") };
        let size = element.bytes() * lanes;
        let name = self.name()?;
        let mut bytes = Some(u64::from(size));
        while self.accept('[') {
            if self.accept(']') {
                bytes = None;
                continue;
            }
            let count = self.small(1 << 24, "a length")?;
            self.expect(']')?;
            bytes = bytes.and_then(|bytes| bytes.checked_mul(u64::from(count)));
        }
        let mut initial = Vec::new();
        if self.accept('=') {
            if self.accept('{') {
                while !self.accept('}') {
                    self.initial(element, &mut initial)?;
                    if *self.peek() != Token::Mark('}') {
                        self.expect(',')?;
                    }
                }
            } else {
                self.initial(element, &mut initial)?;
            }
            if initial.len() as u64 > bytes.unwrap_or(0) {
                return spot.error(format!("{name} has more initial values than elements"));
            }
        }
        Ok((align.unwrap_or(size), bytes, name, initial))
    }

    fn initial(&mut self, element: Type, bytes: &mut Vec<u8>) -> Result<(), ParseError> {
        let value = match *self.peek() {
            Token::Double(bits) if element == Type::F64 => bits,
            Token::Single(bits) if element == Type::F32 => u64::from(bits),
            Token::Integer(_) | Token::Mark('-') if !element.is_float() => {
                let value = self.integer()?;
                self.at -= 1;
                value
            }
            _ => return self.error("this initial value is not supported"),
        };
        self.at += 1;
        bytes.extend_from_slice(&value.to_le_bytes()[..element.bytes() as usize]);
        Ok(())
    }

    /// A variable of the module.
    fn variable(&mut self, space: &str) -> Result<(), ParseError> {
        let spot = self.spot().clone();
        let (align, bytes, name, initial) = self.declaration()?;
        self.expect(';')?;
        match (space, bytes) {
            ("const", Some(bytes)) => {
                let constants = &mut self.file.constants;
                let offset = (constants.len() as u64).next_multiple_of(u64::from(align));
                if offset + bytes > MAX_CONST {
                    return spot.error(format!("constant memory has {MAX_CONST} bytes"));
                }
                constants.resize(offset as usize, 0);
                constants.extend_from_slice(&initial);
                constants.resize((offset + bytes) as usize, 0);
                self.symbols.insert(name, Symbol::Const(offset as u32));
            }
            ("shared", None) => self.dynamic.push(name),
            ("global", Some(_)) => self.globals.push(name),
            _ => return spot.error(format!("this declaration of {name} is not supported")),
        }
        Ok(())
    }

    fn entry(&mut self) -> Result<(), ParseError> {
        let mut body = Body {
            entry: Entry { name: self.name()?, ..Entry::default() },
            symbols: self.symbols.clone(),
            scopes: vec![Scope::default()],
            open: vec![0],
            labels: BTreeMap::new(),
            jumps: Vec::new(),
            shared_end: SHARED_START,
        };
        if self.accept('(') {
            while !self.accept(')') {
                self.parameter(&mut body)?;
                if *self.peek() != Token::Mark(')') {
                    self.expect(',')?;
                }
            }
        }
        while !self.accept('{') {
            match self.dotted()?.as_str() {
                "maxntid" => {
                    let mut threads = u64::from(self.small(1024, "a number of threads")?);
                    while self.accept(',') {
                        threads *= u64::from(self.small(1024, "a number of threads")?);
                    }
                    body.entry.max_threads = Some(threads.min(1024) as u32);
                }
                "minnctapersm" | "maxnreg" => {
                    self.integer()?;
                }
                name => {
                    let name = name.to_owned();
                    return self.error(format!(".{name} is not supported; clusters are not there yet"));
                }
            }
        }
        while !body.open.is_empty() {
            self.item(&mut body)?;
        }
        body.place_dynamic(&self.dynamic);
        let entry = body.finish()?;
        self.file.entries.push(entry);
        Ok(())
    }

    fn parameter(&mut self, body: &mut Body) -> Result<(), ParseError> {
        let spot = self.spot().clone();
        if self.dotted()? != "param" {
            return spot.error("expected .param");
        }
        let (align, bytes, name, _) = self.declaration()?;
        let end = body.entry.parameters.last().map_or(0, |last| last.offset + last.bytes);
        let offset = end.next_multiple_of(align);
        let Some(bytes) = bytes.filter(|bytes| *bytes > 0 && u64::from(offset) + bytes <= 4096) else {
            return spot.error("the parameters of a kernel have at most 4096 bytes");
        };
        body.entry.parameters.push(Parameter { offset, bytes: bytes as u32, align });
        body.symbols.insert(name, Symbol::Parameter(offset));
        Ok(())
    }

    /// A directive, scope, label or instruction in a kernel.
    fn item(&mut self, body: &mut Body) -> Result<(), ParseError> {
        if self.accept('{') {
            let parent = body.open[body.open.len() - 1];
            body.scopes.push(Scope { names: BTreeMap::new(), parent: Some(parent) });
            body.open.push(body.scopes.len() - 1);
            return Ok(());
        }
        if self.accept('}') {
            body.open.pop();
            return Ok(());
        }
        if self.accept(';') {
            return Ok(());
        }
        if *self.peek() == Token::Mark('.') {
            return self.local_directive(body);
        }
        if let (Token::Name(name), Token::Mark(':')) = (self.peek().clone(), self.second()) {
            let key = (body.open[body.open.len() - 1], name.clone());
            if body.labels.insert(key, body.entry.statements.len()).is_some() {
                return self.error(format!("the label {name} occurs twice"));
            }
            self.at += 2;
            return Ok(());
        }
        self.statement(body)
    }

    fn local_directive(&mut self, body: &mut Body) -> Result<(), ParseError> {
        let spot = self.spot().clone();
        let name = self.dotted()?;
        match name.as_str() {
            "reg" => {
                let spot = self.spot().clone();
                let ty = self.dotted()?;
                let Some(ty) = Type::named(&ty) else { return spot.error(format!(".{ty} is not a type of registers")) };
                loop {
                    let name = self.name()?;
                    if self.accept('<') {
                        let count = self.small(MAX_REGISTERS as u64, "a number of registers")?;
                        self.expect('>')?;
                        for index in 0..count {
                            body.declare(&spot, format!("{name}{index}"), ty)?;
                        }
                    } else {
                        body.declare(&spot, name, ty)?;
                    }
                    if !self.accept(',') {
                        break;
                    }
                }
                self.expect(';')
            }
            "shared" => {
                let (align, bytes, name, _) = self.declaration()?;
                self.expect(';')?;
                let Some(bytes) = bytes.filter(|bytes| *bytes <= u64::from(MAX_SHARED)) else {
                    return spot.error(format!("a shared array has a size of at most {MAX_SHARED} bytes"));
                };
                body.share(&spot, name, align, bytes as u32)
            }
            "pragma" => {
                if self.next() != Token::Text {
                    return spot.error("expected a text after .pragma");
                }
                self.expect(';')
            }
            _ => spot.error(format!(".{name} is not supported in a kernel")),
        }
    }

    fn statement(&mut self, body: &mut Body) -> Result<(), ParseError> {
        let first = self.spot().clone();
        let mut guard = None;
        if self.accept('@') {
            let negated = self.accept('!');
            let spot = self.spot().clone();
            let name = self.name()?;
            match body.register(&name) {
                Some(register) if body.entry.registers[register as usize] == Type::Pred => {
                    guard = Some((register, negated));
                }
                _ => return spot.error(format!("{name} is not a predicate")),
            }
        }
        let mut opcode = vec![self.name()?];
        while *self.peek() == Token::Mark('.') {
            opcode.push(self.dotted()?);
        }
        let mut operands = Vec::new();
        if !self.accept(';') {
            loop {
                operands.push(self.operand(body)?);
                if self.accept(';') {
                    break;
                }
                self.expect(',')?;
            }
        }
        let text = self.text[first.start..self.spots[self.at - 1].start].trim().to_owned();
        let scope = body.open[body.open.len() - 1];
        let index = body.entry.statements.len();
        let unresolved = |operand: &Operand| match operand {
            Operand::Address(base, _) => matches!(**base, Operand::Unresolved(_)),
            operand => matches!(operand, Operand::Unresolved(_)),
        };
        if operands.iter().any(unresolved) {
            body.jumps.push((index, scope));
        }
        let (line, column) = (first.line, first.column);
        body.entry.statements.push(Statement { line, column, text, guard, opcode, operands });
        Ok(())
    }

    fn operand(&mut self, body: &Body) -> Result<Operand, ParseError> {
        let spot = self.spot().clone();
        if self.accept('{') {
            let mut parts = Vec::new();
            loop {
                parts.push(self.simple(body)?);
                if parts.len() > 4 {
                    return spot.error("a vector has at most 4 elements");
                }
                if self.accept('}') {
                    return Ok(Operand::Vector(parts));
                }
                self.expect(',')?;
            }
        }
        if self.accept('[') {
            let base = self.simple(body)?;
            let mut offset = 0;
            if self.accept('+') || *self.peek() == Token::Mark('-') {
                offset = self.integer()? as i64;
            }
            self.expect(']')?;
            return Ok(Operand::Address(Box::new(base), offset));
        }
        let operand = self.simple(body)?;
        if self.accept('|') {
            let second = self.simple(body)?;
            return Ok(Operand::Pair(Box::new(operand), Box::new(second)));
        }
        Ok(operand)
    }

    fn simple(&mut self, body: &Body) -> Result<Operand, ParseError> {
        let spot = self.spot().clone();
        if self.accept('!') {
            let name = self.name()?;
            let register = body.register(&name);
            return register.map_or_else(|| spot.error(format!("{name} is not declared")), |r| Ok(Operand::Not(r)));
        }
        match self.peek().clone() {
            Token::Integer(_) | Token::Mark('-') => self.integer().map(Operand::Integer),
            Token::Double(bits) => {
                self.at += 1;
                Ok(Operand::Double(bits))
            }
            Token::Single(bits) => {
                self.at += 1;
                Ok(Operand::Single(bits))
            }
            Token::Name(name) => {
                self.at += 1;
                if name == "_" {
                    return Ok(Operand::Sink);
                }
                if let Some(register) = body.register(&name) {
                    return Ok(Operand::Register(register));
                }
                if let Some(&symbol) = body.symbols.get(&name) {
                    return Ok(Operand::Symbol(symbol));
                }
                if self.globals.contains(&name) {
                    return spot
                        .error(format!("{name} is an array of the module in global memory; pass it as a buffer"));
                }
                if name.starts_with('%') {
                    return self.special(&spot, &name);
                }
                Ok(Operand::Unresolved(name))
            }
            _ => spot.error("expected an operand"),
        }
    }

    fn special(&mut self, spot: &Spot, name: &str) -> Result<Operand, ParseError> {
        let axes = matches!(name, "%tid" | "%ntid" | "%ctaid" | "%nctaid");
        let axis = if axes { self.dotted()? } else { String::new() };
        let Some(special) = Special::named(name, &axis) else {
            return spot.error(format!("{name} is neither declared nor a known special register"));
        };
        Ok(Operand::Special(special))
    }
}
