// Code that is wider than the page scrolls; Tab leads to it, so that it can be scrolled with keys.
{
  const watch = new ResizeObserver((changed) => {
    for (const { target } of changed) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  document.querySelectorAll("article pre").forEach((code) => watch.observe(code));
}
