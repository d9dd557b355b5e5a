/// The style sheet of a report's page: light and dark by the reader's setting, black on white in
/// print. Private to tools/report.
#pragma once

#include <string_view>

namespace handhold::report {

/// Colours of curves are told apart by people with red-green and blue-yellow weakness (after Okabe
/// and Ito) and each role has its own dash as well.
inline constexpr std::string_view kPageStyle = R"css(
:root{--page:#fdfdfb;--ink:#1d2127;--soft:#5b6470;--rule:#c9ced6;--faint:#eceef1;--band:#e9eef6;
--measured:#0063a6;--reference:#c8500a;--extrapolated:#00795a;--truth:#1d2127;--replay:#9b3f86;--paper:#a07400;--other:#3f8fc4;
--good:#00694c;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--page:#14171b;--ink:#e8e9ea;--soft:#a3abb6;--rule:#444c57;--faint:#232830;--band:#1f2a3a;
--measured:#62b1ee;--reference:#ff9a5c;--extrapolated:#3fd0a4;--truth:#f2f3f4;--replay:#e796d2;--paper:#e6bd45;--other:#9cd3f7;
--good:#4fd3a8;--bad:#ff8a80}}
*{box-sizing:border-box}
html{background:var(--page);color:var(--ink)}
body{max-width:62rem;margin:0 auto;padding:2.5rem 1.25rem 4rem;font:17px/1.55 Charter,"Bitstream Charter","Iowan Old Style","DejaVu Serif",Georgia,serif}
h1{font-size:2.1rem;line-height:1.15;margin:0 0 .4rem;letter-spacing:-.01em}
h2{font-size:1.35rem;margin:3rem 0 .6rem;padding-top:.9rem;border-top:1px solid var(--rule)}
h3{font-size:1.05rem;margin:1.8rem 0 .4rem}
p{margin:.5rem 0;max-width:46rem}
.lead{font-size:1.12rem}
.soft,.meta{color:var(--soft)}
.meta,figcaption,table,.legend,nav,.note,code,svg text,.tile{font-family:"Source Sans 3","Helvetica Neue",Arial,"DejaVu Sans",sans-serif}
.meta{font-size:.85rem}
nav{font-size:.85rem;margin:1rem 0 0;display:flex;flex-wrap:wrap;gap:.3rem 1.1rem}
a{color:var(--measured)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));gap:.8rem;margin:1.4rem 0}
.tile{border:1px solid var(--rule);border-radius:6px;padding:.7rem .85rem;font-size:.82rem;line-height:1.35;color:var(--soft)}
.tile b{display:block;font-size:1.55rem;line-height:1.2;color:var(--ink);font-weight:600}
figure{margin:1.6rem 0 2rem}
figcaption{font-size:.88rem;line-height:1.45;max-width:50rem;margin-top:.5rem}
details{margin-top:.3rem;color:var(--soft)}summary{cursor:pointer}
.panels{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:.6rem 1.4rem}.panels.three{grid-template-columns:repeat(3,minmax(0,1fr))}
@media (max-width:40rem){.panels,.panels.three,.pictures{grid-template-columns:1fr!important}}
.pictures{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:.4rem 1rem}
.pictures div{font-family:"Source Sans 3","Helvetica Neue",Arial,"DejaVu Sans",sans-serif;font-size:.85rem;color:var(--soft)}
svg.panel,svg.picture{width:100%;height:auto;display:block}
svg text{fill:var(--soft);font-size:11px}
svg .panel-title{fill:var(--ink);font-weight:600;font-size:12px}
.tick-x,.label-x{text-anchor:middle}.tick-y{text-anchor:end}.label-y{text-anchor:middle}
.band{fill:var(--band)}svg .band-label{font-size:10px;paint-order:stroke;stroke:var(--band);stroke-width:3.5px}
.grid{stroke:var(--faint);stroke-width:1}.axis,.tick{stroke:var(--soft);stroke-width:1}.zero{stroke:var(--rule);stroke-width:1}
.curve{fill:none;stroke:var(--c);stroke-width:1.7;stroke-linejoin:round}
.point{fill:var(--c);fill-opacity:.38}
.c-measured{--c:var(--measured)}
.c-reference{--c:var(--reference);stroke-dasharray:7 2.5}
.c-extrapolated{--c:var(--extrapolated);stroke-dasharray:2 2.5}
.c-truth{--c:var(--truth)}path.c-truth{stroke-width:1.2}
.c-replay{--c:var(--replay);stroke-dasharray:9 2 2 2}
.c-paper{--c:var(--paper);stroke-dasharray:1.5 3}
.c-other{--c:var(--other);stroke-dasharray:4 2}
svg.picture .thin,svg.picture .arrow{stroke-dasharray:none}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.15rem 1.2rem;padding:0;margin:.4rem 0 0;font-size:.82rem;color:var(--soft)}
.swatch{width:30px;height:10px;vertical-align:middle}
.arrow{stroke:var(--c);stroke-width:3.2;stroke-linecap:butt}.arrow-head,.dot{fill:var(--c)}
.dot{stroke:var(--page);stroke-width:1.3}.thin{stroke:var(--c);stroke-width:2}
svg.picture .outline{stroke:#1d2127;stroke-opacity:.6;stroke-width:1.6;stroke-linecap:round;stroke-dasharray:none}
svg .picture-text{fill:var(--reference);font-size:14px;font-weight:600;paint-order:stroke;stroke:var(--page);stroke-width:3px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.86rem;line-height:1.35;margin:1rem 0;border-top:1.5px solid var(--ink);border-bottom:1.5px solid var(--ink);font-variant-numeric:tabular-nums}
caption{caption-side:top;text-align:left;padding:.3rem 0 .5rem;font-size:.88rem;max-width:50rem}
th,td{padding:.3rem .7rem .3rem 0;text-align:left;vertical-align:top}
thead th{border-bottom:1px solid var(--ink);font-weight:600;vertical-align:bottom}
tbody th{font-weight:400}
tr.first td,tr.first th{border-top:1px solid var(--rule)}
td.n,th.n{text-align:right}td.n{white-space:nowrap}.why{white-space:normal;max-width:15rem;margin-left:auto}
.sub{display:block;color:var(--soft);font-size:.78rem}
.met{color:var(--good);font-weight:600;white-space:nowrap}.not-met{color:var(--bad);font-weight:600;white-space:nowrap}.undecided{color:var(--soft);white-space:nowrap}
.refused{color:var(--bad)}.assumed{border:1px solid currentColor;border-radius:3px;padding:0 .25rem;font-size:.75rem}
.note{border-left:3px solid var(--reference);padding:.2rem 0 .2rem .9rem;font-size:.9rem;margin:1rem 0;max-width:50rem}
pre,code{font-size:.82rem;font-family:"DejaVu Sans Mono",Menlo,Consolas,monospace}
pre{background:var(--faint);padding:.8rem 1rem;border-radius:6px;overflow-x:auto;white-space:pre-wrap}
td code{word-break:break-all}
@media print{:root{--page:#fff;--ink:#000;--soft:#333;--rule:#888;--faint:#eee;--band:#e8edf5;--measured:#0063a6;--reference:#c8500a;
--extrapolated:#00795a;--truth:#000;--replay:#9b3f86;--paper:#a07400;--other:#3f8fc4;--good:#00694c;--bad:#b3261e}
figure,tr,.picture{break-inside:avoid}h2,caption{break-after:avoid}nav,figure details{display:none}
html{font-size:12px}body{max-width:none;padding:0;font-size:13px}.scroll{overflow:visible}h2{margin-top:2rem}
table{font-size:.72rem}th,td{padding-right:.45rem}.tiles{grid-template-columns:repeat(4,1fr)}}
)css";

}  // namespace handhold::report
