//! Finds the name that a misspelled one is probably meant to be.

use crate::work::{Step, count};

/// The most similar name, if it is similar enough.
pub fn nearest_name<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    // Names of another length are not near. Most names end here, without being compared.
    let is_candidate = |it: &&str| *it != written && it.len().abs_diff(written.len()) <= 3;
    let near = names.into_iter().inspect(|_| count(Step::NearName, 1)).filter(is_candidate).map(|it| {
        // Names that differ only in case or separators are the same word to a person.
        let plain = |text: &str| text.to_ascii_lowercase().replace(['_', '.'], "-");
        let distance = if plain(it) == plain(written) { 0 } else { strsim::osa_distance(written, it) };
        (distance, it)
    });
    // At most a few letters, and less than half of the word.
    let is_near = |(distance, it): &(usize, &str)| {
        let length = it.len().max(written.len());
        *distance <= (length / 4).clamp(1, 3) && distance * 2 < length
    };
    near.filter(is_near).min().map(|(_, it)| it)
}

/// Whether a name is so similar to another one that it is a slip and not a name of its own. `app-dev` and `app-prd`,
/// `web-1` and `web-2`, `mail` and `main` are similar, but each of them may be meant.
pub fn is_slip_of(written: &str, name: &str) -> bool {
    // Most names differ in length or in many letters.
    if written == name || written.len().abs_diff(name.len()) > 3 {
        return false;
    }
    if letters(written).eq(letters(name)) {
        return true;
    }
    let (mut ours, mut theirs) = (written.split(is_separator), name.split(is_separator));
    loop {
        match (ours.next(), theirs.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) if one == other || is_slip(one, other) => {}
            _ => return false,
        }
    }
}

fn is_separator(it: char) -> bool {
    matches!(it, '-' | '_' | '.')
}

/// A name without separators, in lower case.
fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|it| !is_separator(*it)).map(|it| it.to_ascii_lowercase())
}

/// Whether one word is another one with a letter too many, too few, exchanged with the next one or replaced. The shorter
/// the words, the more often both exist, and a slip is seldom in the first letter: `mail` and `email` are two words.
fn is_slip(one: &str, other: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|it| !it.is_ascii_digit()).collect::<String>();
    let length = one.len().max(other.len());
    if letters(one) == letters(other) || length < 3 {
        return false;
    }
    let has_same_start = one.chars().next() == other.chars().next();
    match strsim::osa_distance(one, other) {
        1 if is_swap(one, other) => true,
        1 if one.len() != other.len() => length >= 5 && has_same_start,
        1 => length >= 6 && has_same_start,
        2 => length >= 8 && has_same_start,
        _ => false,
    }
}

/// Whether two words of one length have the same letters in another order.
fn is_swap(one: &str, other: &str) -> bool {
    let sorted = |text: &str| {
        let mut all: Vec<char> = text.chars().collect();
        all.sort_unstable();
        all
    };
    sorted(one) == sorted(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        assert_eq!(nearest_name("vaule", ["name", "value", "valueFrom"]), Some("value"));
        assert_eq!(nearest_name("configMapkeyRef", ["configMapKeyRef", "secretKeyRef"]), Some("configMapKeyRef"));
        assert_eq!(nearest_name("HOST", ["name", "value", "valueFrom"]), None);
    }

    #[test]
    fn a_slip_is_not_another_name() {
        for (written, name) in [
            ("shop-conifg", "shop-config"),
            ("shop-confg", "shop-config"),
            ("shop-configs", "shop-config"),
            ("shpo-config", "shop-config"),
            ("shopconfig", "shop-config"),
            ("Shop_Config", "shop-config"),
            ("setings", "settings"),
            ("HSOT", "HOST"),
            ("DB_PASWORD", "DB_PASSWORD"),
        ] {
            assert!(is_slip_of(written, name) && is_slip_of(name, written), "{written} {name}");
        }
        for (written, name) in [
            ("app-dev", "app-prd"),
            ("app-dev", "app-test"),
            ("web-1", "web-2"),
            ("web-v1", "web-v10"),
            ("mail-config", "main-config"),
            ("mail-config", "email-config"),
            ("one", "gone"),
            ("tenant-a", "tenant-b"),
            ("app-config", "app-config-dev"),
            ("app", "app"),
            ("", "a"),
        ] {
            assert!(!is_slip_of(written, name) && !is_slip_of(name, written), "{written} {name}");
        }
    }
}
