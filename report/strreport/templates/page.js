/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * What the page can do beyond HTML: sort its tables, and show the values of
 * a chart under the pointer.  Without it the tables keep their order, and
 * the browser shows the same values as titles.  It fetches nothing.
 */
(function () {
	"use strict";

	/* --- tables --- */

	function value(row, column) {
		var cell = row.cells[column];
		var said = cell ? cell.dataset.v : "";
		if (said === undefined)
			said = cell.textContent.trim().replace(/,/g, "")
			    .replace("\u2212", "-");
		return said;
	}

	function number(said) {
		return /^[-+]?\d/.test(said) ? parseFloat(said) : NaN;
	}

	function compare(a, b, up) {
		var x = number(a), y = number(b), order;
		if (a === "" || a === "\u2013" || b === "" || b === "\u2013")
			return (b === "" || b === "\u2013" ? 0 : 1)
			    - (a === "" || a === "\u2013" ? 0 : 1);
		if (isNaN(x) || isNaN(y))
			order = a < b ? -1 : a > b ? 1 : 0;
		else
			order = x - y;
		return up ? order : -order;
	}

	function sort(table, head, column) {
		var was = head.getAttribute("aria-sort");
		var text = isNaN(number(value(
		    table.tBodies[0].querySelector("tr:not(.head)"), column)));
		var up = was ? was === "descending" : text;
		table.querySelectorAll("th[aria-sort]").forEach(function (th) {
			th.removeAttribute("aria-sort");
		});
		head.setAttribute("aria-sort", up ? "ascending" : "descending");
		Array.from(table.tBodies).forEach(function (body) {
			Array.from(body.rows).filter(function (row) {
				return !row.classList.contains("head");
			}).sort(function (a, b) {
				return compare(value(a, column),
				    value(b, column), up);
			}).forEach(function (row) {
				body.appendChild(row);
			});
		});
	}

	function sortable(table) {
		var taken = [];
		Array.from(table.tHead.rows).forEach(function (row, r) {
			var c = 0;
			Array.from(row.cells).forEach(function (th) {
				var column, button, i, j;
				while (taken[r] && taken[r][c])
					c++;
				column = c;
				for (i = r; i < r + th.rowSpan; i++)
					for (j = c; j < c + th.colSpan; j++)
						(taken[i] = taken[i] || [])[j] = true;
				c += th.colSpan;
				if (th.colSpan > 1)
					return;
				button = document.createElement("button");
				button.type = "button";
				button.title = "Sort by this column";
				while (th.firstChild)
					button.appendChild(th.firstChild);
				th.appendChild(button);
				button.addEventListener("click", function () {
					sort(table, th, column);
				});
			});
		});
	}

	document.querySelectorAll("table.sort").forEach(function (table) {
		if (table.tHead && table.querySelectorAll("tbody tr:not(.head)")
		    .length > 1)
			sortable(table);
	});

	/* --- charts --- */

	var tip = document.createElement("div");
	var shown = null;

	tip.className = "tip";
	tip.setAttribute("role", "status");
	tip.hidden = true;
	document.body.appendChild(tip);

	function hide() {
		if (shown)
			shown.classList.remove("on");
		shown = null;
		tip.hidden = true;
	}

	function show(strip, x, y) {
		if (strip !== shown) {
			hide();
			shown = strip;
			strip.classList.add("on");
			tip.textContent = "";
			strip.dataset.said.split("\n").forEach(function (line, n) {
				var part = document.createElement(n ? "div" : "b");
				part.textContent = line;
				tip.appendChild(part);
			});
			tip.hidden = false;
		}
		/* Beside the pointer, and inside of the window. */
		x = x + 14 + tip.offsetWidth > innerWidth
		    ? x - 14 - tip.offsetWidth : x + 14;
		y = Math.min(y + 14, innerHeight - tip.offsetHeight - 4);
		tip.style.left = Math.max(4, x) + "px";
		tip.style.top = Math.max(4, y) + "px";
	}

	function step(strips, key) {
		var at = strips.indexOf(shown);
		var box, next = {
			ArrowLeft: at < 0 ? strips.length - 1 : at - 1,
			ArrowUp: at < 0 ? strips.length - 1 : at - 1,
			ArrowRight: at + 1, ArrowDown: at + 1,
			Home: 0, End: strips.length - 1
		}[key];
		if (next === undefined)
			return false;
		next = Math.max(0, Math.min(next, strips.length - 1));
		box = strips[next].getBoundingClientRect();
		show(strips[next], box.right, box.top);
		return true;
	}

	document.querySelectorAll("svg").forEach(function (svg) {
		var strips = Array.from(svg.querySelectorAll(".values rect"));
		strips.forEach(function (strip) {
			var title = strip.querySelector("title");
			strip.dataset.said = title.textContent;
			strip.removeChild(title);
			["pointermove", "pointerdown"].forEach(function (what) {
				strip.addEventListener(what, function (event) {
					show(strip, event.clientX, event.clientY);
				});
			});
		});
		if (strips.length === 0)
			return;
		svg.setAttribute("tabindex", "0");
		svg.addEventListener("pointerleave", hide);
		svg.addEventListener("blur", hide);
		svg.addEventListener("keydown", function (event) {
			if (event.key === "Escape")
				hide();
			else if (step(strips, event.key))
				event.preventDefault();
		});
	});
	addEventListener("scroll", hide, { passive: true });
}());
