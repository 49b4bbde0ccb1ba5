// Lets the keyboard reach a table that scrolls sideways, which the theme leaves to a pointer.
const reach = () => document.querySelectorAll(".md-typeset__scrollwrap").forEach((wrap) => {
  if (wrap.scrollWidth > wrap.clientWidth) wrap.setAttribute("tabindex", "0");
  else wrap.removeAttribute("tabindex");
});
addEventListener("load", reach);
addEventListener("resize", reach);
