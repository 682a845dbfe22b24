#!/usr/bin/env bash
# Makes a package for Debian and Ubuntu of a binary. Options of dpkg-deb may follow, such as -Zgzip.
#   packaging/deb.sh BINARY FOLDER [OPTION]…
# DEBFULLNAME and DEBEMAIL say who makes it.
. "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || die "give a binary and a folder: packaging/deb.sh BINARY FOLDER [OPTION OF dpkg-deb]…"
facts "$1"
folder=$2
maintainer="${DEBFULLNAME:-The Dyno authors} <${DEBEMAIL:-noreply@github.com}>"
# What comes before a release sorts before it.
debian_version=${version/-/\~}-1

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
"$packaging/stage.sh" "$1" "$root/usr"
share=$root/usr/share
doc=$share/doc/dyno

mv "$share/zsh/site-functions" "$share/zsh/vendor-completions"
gzip -9n "$share"/man/man1/*.1 "$doc/third-party.txt"
mv "$doc/CHANGELOG.md" "$doc/changelog"
cat >"$doc/changelog.Debian" <<END
dyno ($debian_version) unstable; urgency=medium

  * Dyno $version. What changed is in changelog.gz.

 -- $maintainer  $(LC_ALL=C date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
END
gzip -9n "$doc/changelog" "$doc/changelog.Debian"

mit=$(<"$doc/LICENSE-MIT")
rm "$doc/LICENSE-MIT" "$doc/LICENSE-APACHE"
cat >"$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: dyno
Comment: The licences of the libraries within the program are in third-party.txt.gz.

Files: *
Copyright: $(sed -n 's/^Copyright (c) //p' <<<"$mit")
License: Expat or Apache-2.0

License: Expat
$(sed '1,/^Copyright/d' <<<"$mit" | sed '1{/^$/d}; s/^$/./; s/^/ /')

License: Apache-2.0
 On Debian systems, its text is in /usr/share/common-licenses/Apache-2.0.
END

depends="libc6 (>= $glibc)"
[ $libgcc = no ] || depends+=", libgcc-s1 (>= 4.2)"
mkdir "$root/DEBIAN"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
cat >"$root/DEBIAN/control" <<END
Package: dyno
Version: $debian_version
Architecture: $debian_machine
Maintainer: $maintainer
Installed-Size: $(du --apparent-size --block-size=1024 --summarize "$root/usr" | cut -f 1)
Depends: $depends
Recommends: ca-certificates, curl
Suggests: maven, npm, podman, python3-pip
Section: database
Priority: optional
Description: compares database engines, versions and settings
 Dyno starts MySQL, MariaDB, PostgreSQL or SQLite, puts the same load on each
 in turns, and repeats that on fresh instances. It shows which one is faster,
 by how much, with what confidence, and at what cost.
END
mkdir -p "$folder"
dpkg-deb --root-owner-group -Zxz "${@:3}" --build "$root" "$folder/dyno_${debian_version}_$debian_machine.deb" >&2
