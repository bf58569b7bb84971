#!/bin/sh
# Refreshes web/static/vendor from npm: the prebuilt parts that the dashboard serves, their licences, and one sprite of
# the icons listed below. Needs npm and a network; nothing of it runs when Patchbay is built.
set -eu

htmx=4.0.1 basecoat=1.0.2 geist=5.3.0 geist_mono=5.3.0 lucide=1.62.0
icons='activity arrow-left ban bell bookmark bot building-2 check chevron-down chevron-right chevrons-up-down circle-alert circle-check
circle-user copy external-link file git-compare hourglass house image inbox info key-round link log-out menu minus monitor moon play plug plus
power refresh-cw scroll-text search settings shield-alert shield-check square stamp sun trash-2 triangle-alert users webhook wrench x'

here=$(cd "$(dirname "$0")" && pwd)
out=$here/static/vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fetch PACKAGE VERSION DIRECTORY SHA512 unpacks a package, and ends the script where its tarball is another one. SHA512 is the
# dist.integrity of `npm view PACKAGE@VERSION`, in hex.
fetch() {
    (
        cd "$work"
        tarball=$(npm pack --silent "$1@$2")
        sum=$(sha512sum "$tarball" | cut -d ' ' -f 1)
        if [ "$sum" != "$4" ]; then
            echo "vendor.sh: the SHA-512 of $1@$2 is $sum, want $4" >&2
            exit 1
        fi
        mkdir "$3"
        tar xzf "$tarball" -C "$3" --strip-components=1
    )
}
fetch htmx.org "$htmx" htmx \
    a05ec98178435bd5170b2fe4d59605510833bbfae6d7d39158f48f34bf75bcf96e0763c1f7e315e79b7241d1ffc3ba361006d36141b94835b547ad2676476a1a
fetch basecoat-css "$basecoat" basecoat \
    0ba239aebec7ce2200a0160d18f3b953a1da53fe85b85de2569fbe220a04aaa27cdfa8acdd7a11b72ea5d626d7ab19e821164d9ce0180cc5fc431542fb9f3387
fetch @fontsource-variable/geist "$geist" geist \
    8f49bebcb42e1b95c06281ed18256ed2ca6f946ade477133a44094573905988d664d59c03b7f25fcd10f0c2160675efb271cd82422d29934226c88983e2946ac
fetch @fontsource-variable/geist-mono "$geist_mono" geist-mono \
    bc16eec03128f4092ba800cc5ceae5011dc315c262e3f2717ae538dc5a22404467370b1f5cd9efc6f45e646d367102a6ca4e0366465d0595f7a130efcb6cc103
fetch lucide-static "$lucide" lucide \
    581640fe6d8fbe41693061c3b6c05c9393f603d1b87a12e562ee06c30202726126d41bd85608f4d25083c4a4562e56cc94e89b2da8b0750f3c1b9a479125a0c0

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
