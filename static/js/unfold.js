// A link to something that is folded, or that folds the rest of itself, unfolds it.

function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target?.scrollIntoView();
}

addEventListener("hashchange", unfold);
if (location.hash) unfold();
