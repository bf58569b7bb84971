#!/bin/sh
# Refreshes web/static/vendor from npm: the prebuilt parts that the dashboard serves, their licences, and one sprite of
# the icons listed below. Needs npm and a network; nothing of it runs when Patchbay is built.
set -eu

htmx=4.0.1 basecoat=1.0.2 geist=5.3.0 geist_mono=5.3.0 lucide=1.62.0
icons='activity arrow-left ban bell bot building-2 check chevron-down chevron-right chevrons-up-down circle-alert circle-check
circle-user copy external-link file hourglass image inbox info key-round link log-out menu minus monitor moon play plug plus
power refresh-cw search settings shield-alert shield-check square sun trash-2 triangle-alert users webhook wrench x'

here=$(cd "$(dirname "$0")" && pwd)
out=$here/static/vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fetch PACKAGE VERSION DIRECTORY
fetch() {
    (cd "$work" && mkdir "$3" && tar xzf "$(npm pack --silent "$1@$2")" -C "$3" --strip-components=1)
}
fetch htmx.org "$htmx" htmx
fetch basecoat-css "$basecoat" basecoat
fetch @fontsource-variable/geist "$geist" geist
fetch @fontsource-variable/geist-mono "$geist_mono" geist-mono
fetch lucide-static "$lucide" lucide

rm -rf "$out"
mkdir -p "$out/LICENSES"
cp "$work/htmx/dist/htmx.min.js" "$out/htmx.js"
cp "$work/htmx/dist/ext/hx-sse.min.js" "$out/hx-sse.js"
cp "$work/basecoat/dist/basecoat-nova.cdn.min.css" "$out/basecoat.css"
for subset in latin latin-ext; do
    cp "$work/geist/files/geist-$subset-wght-normal.woff2" "$out/geist-$subset.woff2"
    cp "$work/geist-mono/files/geist-mono-$subset-wght-normal.woff2" "$out/geist-mono-$subset.woff2"
done
cp "$work/htmx/LICENSE" "$out/LICENSES/htmx-$htmx.txt"
cp "$work/basecoat/LICENSE.md" "$out/LICENSES/basecoat-css-$basecoat.txt"
cp "$work/geist/LICENSE" "$out/LICENSES/geist-$geist.txt"
cp "$work/geist-mono/LICENSE" "$out/LICENSES/geist-mono-$geist_mono.txt"
cp "$work/lucide/LICENSE" "$out/LICENSES/lucide-static-$lucide.txt"

# A source map's address would be asked for by developer tools and is not served.
sed -i 's|^//# sourceMappingURL=.*$||' "$out/htmx.js" "$out/hx-sse.js"

{
    printf '<svg xmlns="http://www.w3.org/2000/svg">\n'
    for icon in $icons; do
        printf '<symbol id="%s" viewBox="0 0 24 24">' "$icon"
        tr '\n' ' ' <"$work/lucide/icons/$icon.svg" | sed -e 's|.*stroke-linejoin="round" *>||' -e 's|</svg>.*||' -e 's|  *| |g'
        printf '</symbol>\n'
    done
    printf '</svg>\n'
} >"$out/icons.svg"
