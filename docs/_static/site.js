// Code and tables that are wider than the page scroll; Tab leads to them, so that they can be scrolled with keys.
{
  const reach = (target) => {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  };
  const watch = new ResizeObserver((changed) => changed.forEach(({ target }) => reach(target)));
  document.querySelectorAll("article pre, article .table-wrapper").forEach((wide) => {
    reach(wide);
    watch.observe(wide);
  });
}
