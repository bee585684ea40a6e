"""What is done on pages of the repositories, and by which expression each page says that it was."""

# ruff: noqa: E501
from __future__ import annotations

from bench.stranger_steps import (
    Case,
    Step,
    answer,
    choose,
    double,
    drag,
    hover,
    is_set,
    keys,
    named,
    put,
    reads,
    right,
    says,
    shown,
    tap,
    typed,
    upload,
    wait,
    worth,
)  # fmt: skip
from bench.stranger_widgets import BODIES, WIDGETS

APG = "/apg/content/patterns/"
_STATE = "#cb1-input"


def _apg(name: str, path: str, holds: str, *steps: Step) -> Case:
    return Case(f"apg {name}", f"{APG}{path}.html", steps, holds)


_APG = [
    _apg("accordion opens", "accordion/examples/accordion", is_set("#accordion2id", "aria-expanded", "true"),
         tap("Billing Address", "button")),
    _apg("accordion field", "accordion/examples/accordion", worth("#cufc2", "ada@example.org"),
         put("Email", "ada@example.org")),
    _apg("alert", "alert/examples/alert", says("#example", "Hello"), tap("Trigger Alert", "button")),
    _apg("alert dialog", "alertdialog/examples/alertdialog", worth("#notes", ""),
         tap("Discard", "button"), tap("Yes", "button")),
    _apg("toggle button", "button/examples/button", is_set("#toggle", "aria-pressed", "true"),
         tap("Mute", "button")),
    _apg("carousel next", "carousel/examples/carousel-1-prev-next",
         "/^[23]/.test(document.querySelector('.carousel-item.active').ariaLabel)",
         tap("Stop automatic", "button"), tap("Next Slide", "button")),
    _apg("carousel tab", "carousel/examples/carousel-2-tablist",
         "document.querySelectorAll('[role=tab]')[3].ariaSelected === 'true'", tap("Slide 4", "tab")),
    _apg("mixed check box", "checkbox/examples/checkbox-mixed",
         "document.querySelectorAll('#ex1 input:checked').length === 4", tap("All condiments", "checkbox")),
    _apg("mixed check box, one", "checkbox/examples/checkbox-mixed", "document.querySelector('#cond3').checked",
         tap("Mustard", "checkbox")),
    _apg("check box", "checkbox/examples/checkbox",
         f"{named('[role=checkbox]', 'Lettuce')}.ariaChecked === 'true'", tap("Lettuce", "checkbox")),
    _apg("combobox list, click", "combobox/examples/combobox-autocomplete-list", worth(_STATE, "Alaska"),
         tap("States", "button"), tap("Alaska", "option")),
    _apg("combobox list, typed", "combobox/examples/combobox-autocomplete-list", worth(_STATE, "Hawaii"),
         put("State", "Ha", "combobox", slowly=True), tap("Hawaii", "option")),
    _apg("combobox list, far option", "combobox/examples/combobox-autocomplete-list", worth(_STATE, "Wyoming"),
         tap("States", "button"), tap("Wyoming", "option")),
    _apg("combobox both", "combobox/examples/combobox-autocomplete-both", worth(_STATE, "Kansas"),
         put("State", "Ka", "combobox", slowly=True), keys("Enter")),
    _apg("combobox none", "combobox/examples/combobox-autocomplete-none", "document.querySelector('[role=combobox]').value === 'salsa recipes'",
         tap("Previous Searches", "button"), tap("salsa recipes", "option")),
    _apg("combobox grid", "combobox/examples/grid-combo", worth("#ex1-input", "Beets"),
         put("Fruits and vegetables", "be", "combobox", slowly=True), tap("Beets", "gridcell")),
    _apg("combobox date", "combobox/examples/combobox-datepicker", "/\\/14\\/\\d{4}$/.test(document.querySelector('#cb-textbox-1').value)",
         tap("Choose Date", "button"), tap("14")),
    _apg("combobox select only", "combobox/examples/combobox-select-only", says("#combo1", "Banana"),
         tap("Favorite Fruit", "combobox"), tap("Banana", "option")),
    _apg("date dialog", "dialog-modal/examples/datepicker-dialog", "/\\/15\\/\\d{4}$/.test(document.querySelector('#id-textbox-1').value)",
         tap("Choose Date", "button"), tap("15")),
    _apg("modal dialog", "dialog-modal/examples/dialog", worth("#dialog1 .city_input", "Oslo"),
         tap("Add Delivery Address", "button"), put("City", "Oslo")),
    _apg("nested dialogs", "dialog-modal/examples/dialog", shown("#dialog2"),
         tap("Add Delivery Address", "button"), tap("Verify Address", "button")),
    _apg("disclosure", "disclosure/examples/disclosure-faq",
         "document.querySelectorAll('.faq button')[1].ariaExpanded === 'true'",
         tap("What do I do if I lose my permit", "button")),
    _apg("disclosure navigation", "disclosure/examples/disclosure-navigation",
         "location.hash === '#mythical-page-content'", tap("Admissions", "button"), tap("Tuition", "link")),
    _apg("grid cell", "grid/examples/data-grids", "document.activeElement.textContent.includes('Hot Coffee')",
         tap("Hot Coffee", "link")),
    _apg("grid remove", "grid/examples/layout-grids", "!document.querySelector('#ex2-grid').textContent.includes('Recipient 2')",
         tap("X", "", 1)),
    _apg("listbox scrollable", "listbox/examples/listbox-scrollable", is_set("#ss_elem_Es", "aria-selected", "true"),
         tap("Einsteinium", "option")),
    _apg("listbox far option", "listbox/examples/listbox-scrollable", is_set("#ss_elem_Og", "aria-selected", "true"),
         tap("Oganesson", "option")),
    _apg("listbox collapsible", "listbox/examples/listbox-collapsible", says("#exp_button", "Curium"),
         tap("Neptunium", "button"), tap("Curium", "option"), keys("Enter")),
    _apg("listbox grouped", "listbox/examples/listbox-grouped", f"{named('[role=option]', 'Dog')}.ariaSelected === 'true'",
         tap("Dog", "option")),
    _apg("listbox rearranged", "listbox/examples/listbox-rearrangeable",
         "document.querySelectorAll('#ss_imp_list [role=option]')[1].textContent.includes('K-12')",
         tap("Proximity of public K-12", "option"), tap("Down", "button")),
    _apg("listbox several", "listbox/examples/listbox-rearrangeable",
         "document.querySelectorAll('#ms_unimp_list [role=option]').length === 2",
         tap("Leather seats", "option"), tap("Rear bucket seats", "option"), tap("Add", "button")),
    _apg("menu button", "menu-button/examples/menu-button-actions", worth("#action_output", "Action 3"),
         tap("Actions", "button"), tap("Action 3", "menuitem")),
    _apg("menu button, descendant", "menu-button/examples/menu-button-actions-active-descendant",
         worth("#action_output", "Action 2"), tap("Actions", "button"), tap("Action 2", "menuitem")),
    _apg("menu button by keys", "menu-button/examples/menu-button-actions", worth("#action_output", "Action 2"),
         tap("Actions", "button"), keys("ArrowDown", "Enter")),
    _apg("menubar editor", "menubar/examples/menubar-editor", "document.querySelector('#ex1 textarea').style.fontFamily.includes('mono')",
         tap("Font", "menuitem"), tap("Monospace", "menuitemradio")),
    _apg("menubar check", "menubar/examples/menubar-editor", "document.querySelector('#ex1 textarea').style.fontWeight === 'bold'",
         tap("Style/Color", "menuitem"), tap("Bold", "menuitemcheckbox")),
    _apg("menubar navigation", "menubar/examples/menubar-navigation", "/Overview/.test(document.querySelector('#ex1 h1, #ex1 h2')?.textContent)",
         tap("About", "menuitem"), tap("Overview", "menuitem")),
    _apg("menubar deeper", "menubar/examples/menubar-navigation", "/History/.test(document.querySelector('#ex1 h1, #ex1 h2')?.textContent)",
         tap("About", "menuitem"), hover("Facts", "menuitem"), tap("History", "menuitem")),
    _apg("radio", "radio/examples/radio", f"{named('[role=radio]', 'Thin crust')}.ariaChecked === 'true'",
         tap("Thin crust", "radio")),
    _apg("radio, descendant", "radio/examples/radio-activedescendant", f"{named('[role=radio]', 'Dine in Restaurant')}.ariaChecked === 'true'",
         tap("Dine in Restaurant", "radio")),
    _apg("radio rating", "radio/examples/radio-rating", "document.querySelectorAll('#ex1 [role=radio]')[3].ariaChecked === 'true'",
         tap("four stars", "radio")),
    _apg("slider by keys", "slider/examples/slider-color-viewer", is_set(".color-slider.green", "aria-valuenow", "130"),
         tap("Green", "slider"), keys("ArrowRight", "End", "Home", *["PageUp"] * 13)),
    _apg("vertical slider", "slider/examples/slider-temperature", "document.querySelector('#ex1 [role=slider]').ariaValueNow >= 38",
         tap("Temperature", "slider"), keys("End")),
    _apg("slider rating", "slider/examples/slider-rating", is_set("#id-rating", "aria-valuenow", "10"),
         tap("Rate your satisfaction", "slider"), keys("End")),
    _apg("slider seek", "slider/examples/slider-seek", "document.querySelector('#ex1 [role=slider]').ariaValueNow === '0'",
         tap("Seek", "slider"), keys("Home")),
    _apg("two thumbs", "slider-multithumb/examples/slider-multithumb", "document.querySelector('[role=slider].minimum, [role=slider]').ariaValueNow > 100",
         tap("Minimum Price", "slider"), keys("PageUp", "PageUp", "PageUp")),
    _apg("spin button", "spinbutton/examples/quantity-spinbutton", worth("#adults", "2"), tap("Add adult", "button")),
    _apg("spin button typed", "spinbutton/examples/quantity-spinbutton", worth("#adults", "5"),
         put("Adults", "5", "spinbutton", clear=True)),
    _apg("date spinners", "spinbutton/examples/datepicker-spinbuttons", "/[2-9]|1\\d/.test(document.querySelector('.day [role=spinbutton]').ariaValueNow)",
         tap("next day", "button")),
    _apg("switch", "switch/examples/switch", is_set("[role=switch]", "aria-checked", "true"), tap("Notifications", "switch")),
    _apg("switch button", "switch/examples/switch-button", "document.querySelectorAll('[role=switch]')[1].ariaChecked === 'true'",
         tap("Outdoor Lights", "switch")),
    _apg("switch check box", "switch/examples/switch-checkbox", "document.querySelectorAll('input[role=switch]')[0].checked",
         tap("Reduced motion", "switch")),
    _apg("sorted table", "table/examples/sortable-table", "!!document.querySelector('.sortable th').ariaSort",
         tap("First Name", "button")),
    _apg("tabs manual", "tabs/examples/tabs-manual", is_set("#tab-3", "aria-selected", "true"), tap("Ida da Fonseca", "tab")),
    _apg("tabs by keys", "tabs/examples/tabs-automatic", is_set("#tab-2", "aria-selected", "true"),
         tap("Maria Ahlefeldt", "tab"), keys("ArrowRight")),
    _apg("tabs with actions", "tabs/examples/tabs-actions", "!document.querySelectorAll('[role=tab]')[0].textContent.includes('Nurse')",
         tap("Nurse shark", "tab"), tap("Actions for Nurse shark", "button"), tap("Move tab forward", "menuitem")),
    _apg("toolbar", "toolbar/examples/toolbar", "getComputedStyle(document.querySelector('#textarea1')).fontStyle === 'italic'",
         tap("Italic", "button")),
    _apg("toolbar menu", "toolbar/examples/toolbar", "/cursive/i.test(getComputedStyle(document.querySelector('#textarea1')).fontFamily)",
         tap("Font: Sans-serif", "button"), tap("Cursive", "menuitemradio")),
    _apg("treegrid", "treegrid/examples/treegrid-1", "document.querySelectorAll('#treegrid tbody tr')[0].ariaExpanded === 'false'",
         tap("Treegrids are awesome", "row"), keys("ArrowLeft")),
    _apg("tree opens", "treeview/examples/treeview-1a", "document.querySelector('[role=treeitem]').ariaExpanded === 'true'",
         tap("Projects", "treeitem")),
    _apg("tree leaf", "treeview/examples/treeview-1b", "document.querySelector('[role=tree]').textContent && [...document.querySelectorAll('[role=treeitem]')].some((el) => /project-2/.test(el.textContent) && el.ariaSelected === 'true')",
         tap("Projects", "treeitem"), tap("project-2.docx", "treeitem")),
    _apg("tree navigation", "treeview/examples/treeview-navigation", "/overview/.test(location.hash)",
         tap("About", "treeitem"), keys("ArrowRight"), tap("Overview", "treeitem")),
]  # fmt: skip

_TODO = {
    "react": "react/dist", "svelte": "svelte/dist", "lit": "lit/dist", "jquery": "jquery/dist",
    "backbone": "backbone/dist", "es6": "javascript-es6/dist", "preact": "preact/dist",
}  # fmt: skip


def _todo(name: str, folder: str) -> list[Case]:
    path, deep = (
        f"/todomvc/examples/{folder}/index.html",
        (
            "((r) => { const all = []; const go = (n) => { for (const e of n.querySelectorAll('*')) "
            "{ all.push(e); if (e.shadowRoot) go(e.shadowRoot); } }; go(r); return all; })(document)"
        ),
    )
    field_ = "New Todo Input" if name in ("react", "es6") else "What needs to be done"
    add = put(field_, "Buy milk", submit=True)
    labels = f"{deep}.filter((e) => e.localName === 'label' && /milk|bread/i.test(e.textContent) && e.checkVisibility())"
    return [
        Case(f"todo {name} adds", path, (add,), f"{labels}.length === 1"),
        Case(f"todo {name} completes", path, (add, tap("Buy milk", "checkbox")),
             f"{deep}.some((e) => e.matches('li .toggle, .todo .toggle, input.toggle') && e.checked)"),
        Case(f"todo {name} edits", path, (add, double("Buy milk"), keys("Control+a"), typed("Buy bread"), keys("Enter")),
             f"{labels}.some((e) => /^\\s*Buy bread/.test(e.textContent))"),
        Case(f"todo {name} deletes", path, (add, hover("Buy milk"), tap("×", "button")), f"{labels}.length === 0"),
    ]  # fmt: skip


_TODOS = [case for name, folder in list(_TODO.items())[:5] for case in _todo(name, folder)]
_TODOS = [case for case in _TODOS if case.name != "todo lit edits"]  # its field does not take the focus


def _net(name: str, page: str, holds: str, *steps: Step) -> Case:
    return Case(f"internet {name}", f"/{page}", steps, holds)


_INTERNET = [
    _net("adds and removes", "add_remove_elements", "document.querySelectorAll('.added-manually').length === 2",
         tap("Add Element", "button"), tap("Add Element", "button"), tap("Delete", "button", 1)),
    _net("check boxes", "checkboxes", "document.querySelectorAll('input')[0].checked && document.querySelectorAll('input')[1].checked",
         tap("checkbox 1", "checkbox")),
    _net("context menu", "context_menu", "judged.some(([kind]) => kind === 'contextmenu')",
         right("hot-spot"), answer("OK")),
    _net("dropdown", "dropdown", worth("#dropdown", "2"), choose("", "Option 2")),
    _net("dynamic controls", "dynamic_controls", "!document.querySelector('#checkbox-example input[type=checkbox]')",
         tap("Remove", "button"), wait("It's gone!")),
    _net("dynamic loading", "dynamic_loading_2", shown("#finish"), tap("Start", "button"), wait("Hello World!")),
    _net("entry advert", "entry_ad", "!document.querySelector('.modal')?.checkVisibility()", wait("Close"), tap("Close")),
    _net("slider by keys", "horizontal_slider", worth("input", "1"), tap("", "slider"), keys("Home", "ArrowRight", "ArrowRight")),
    _net("hovers", "hovers", shown(".figure:nth-of-type(2) .figcaption"), hover("User Avatar", "img", 1)),
    _net("inputs", "inputs", worth("input", "42"), put("", "42", "spinbutton")),
    _net("alert", "javascript_alerts", says("#result", "You successfully clicked an alert"),
         tap("Click for JS Alert", "button"), answer("OK")),
    _net("confirm", "javascript_alerts", says("#result", "You clicked: Cancel"),
         tap("Click for JS Confirm", "button"), answer("Cancel")),
    _net("prompt", "javascript_alerts", says("#result", "You entered: Ada"),
         tap("Click for JS Prompt", "button"), answer("OK", "Ada")),
    _net("menu on hover", "jqueryui_menu", "judged.some(([kind, el]) => kind === 'click' && /Excel/.test(el.textContent))",
         hover("Enabled"), hover("Downloads"), tap("Excel")),
    _net("key presses", "key_presses", says("#result", "ESCAPE"), tap("", "textbox"), keys("Escape")),
    _net("login", "login", "posted:username=tomsmith", put("Username", "tomsmith"), put("Password", "secret!"),
         tap("Login", "button")),
    _net("upload", "upload", "posted:Dear reader", upload("Choose file"), tap("Upload", "button")),
    _net("table sorted", "tables", "document.querySelector('#table1 td').textContent === 'Bach'", tap("Last Name")),
    _net("drags", "drag_and_drop", says("#column-a", "B"), drag("A", "B")),
    _net("shadow text", "shadowdom", "true", reads("Let's have some different text")),
    _net("challenging", "challenging_dom", "judged.some(([kind, el]) => kind === 'click' && el.textContent === 'delete')",
         tap("delete", "link", 3)),
    _net("forgot password", "forgot_password", "posted:ada", put("E-mail", "ada@example.org"),
         tap("Retrieve password", "button")),
]  # fmt: skip

CASES: list[Case] = [*_APG, *_TODOS, *_INTERNET, *WIDGETS]
__all__ = ["BODIES", "CASES"]
