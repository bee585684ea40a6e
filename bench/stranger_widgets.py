"""What is done with widgets of npm's packages. `BODIES` are frames of a page around a stranger's widget, with the
script that its own documentation gives; `entry:NAME` is bundled with the packages that it imports.
"""

# ruff: noqa: E501
from __future__ import annotations

from bench.stranger_steps import (
    Case,
    Step,
    answer,
    choose,
    double,
    drag,
    held,
    hover,
    keys,
    put,
    reads,
    right,
    says,
    shown,
    tab,
    tap,
    typed,
    upload,
    worth,
)  # fmt: skip

BODIES: dict[str, str] = {}
WIDGETS: list[Case] = []


def page(name: str, body: str, *, head: str = "", entry: str = "") -> str:
    """A frame of a page around a stranger's widget; its path."""
    script = f'<script type="module" src="/bundle/{name}.js"></script>' if entry else ""
    path = f"/widget/{name}"
    BODIES[path] = (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{name}</title>{head}</head>"
        f"<body>{body}{script}</body></html>"
    )
    if entry:
        BODIES[f"entry:{name}.js"] = entry
    return path


def css(*paths: str) -> str:
    return "".join(f'<link rel=stylesheet href="/npm/{path}">' for path in paths)


def js(*paths: str) -> str:
    return "".join(f'<script src="/npm/{path}"></script>' for path in paths)


def case(name: str, path: str, holds: str, *steps: Step) -> None:
    WIDGETS.append(Case(name, path, steps, holds))


# editors

at = page(
    "codemirror5",
    "<textarea id=t>first\n</textarea>",
    head=css("codemirror/lib/codemirror.css") + js("codemirror/lib/codemirror.js"),
)
BODIES[at] = BODIES[at].replace(
    "</body>", "<script>cm = CodeMirror.fromTextArea(t, {lineNumbers: true})</script></body>"
)
case(
    "codemirror 5 types",
    at,
    "cm.getValue().includes('let x = 1')",
    tap("first"),
    keys("Control+a"),
    typed("let x = 1"),
)
at = page(
    "codemirror6",
    "<div id=e></div>",
    entry="""import {EditorView, basicSetup} from 'codemirror6';
globalThis.view = new EditorView({doc: 'one', extensions: [basicSetup], parent: document.querySelector('#e')});""",
)
case("codemirror 6 types", at, "view.state.doc.toString().includes('two')", put("one", "two"))
case(
    "codemirror 6 replaces",
    at,
    "view.state.doc.toString() === 'let y = (2)'",
    tap("one", "textbox"),
    keys("Control+a"),
    typed("let y = (2)"),
)
case("codemirror 6 undo", at, "view.state.doc.toString() === 'one'", put("one", "two"), keys("Control+z"))
at = page(
    "prosemirror",
    "<div id=e></div>",
    head=css(
        "prosemirror-view/style/prosemirror.css",
        "prosemirror-menu/style/menu.css",
        "prosemirror-example-setup/style/style.css",
    ),
    entry="""
import {EditorState} from 'prosemirror-state'; import {EditorView} from 'prosemirror-view'; import {schema} from 'prosemirror-schema-basic';
import {DOMParser} from 'prosemirror-model'; import {exampleSetup} from 'prosemirror-example-setup';
const from = document.createElement('div'); from.innerHTML = '<p>Once upon</p>';
globalThis.view = new EditorView(document.querySelector('#e'), {state: EditorState.create({doc: DOMParser.fromSchema(schema).parse(from), plugins: exampleSetup({schema})})});""",
)
case(
    "prosemirror types", at, "view.state.doc.textContent.includes('a time')", put("Once upon", " a time", "")
)
case(
    "prosemirror bold",
    at,
    "!!document.querySelector('.ProseMirror strong')",
    tap("Once upon"),
    keys("Control+a", "Control+b"),
)
case(
    "prosemirror menu",
    at,
    "!!document.querySelector('.ProseMirror h2')",
    tap("Once upon"),
    tap("Type..."),
    tap("Heading"),
    tap("Level 2"),
)
at = page(
    "quill", "<div id=e><p>Hello</p></div>", head=css("quill/dist/quill.snow.css") + js("quill/dist/quill.js")
)
BODIES[at] = BODIES[at].replace("</body>", "<script>q = new Quill('#e', {theme: 'snow'})</script></body>")
case("quill types", at, "q.getText().includes(' world')", put("Hello", " world", ""))
case(
    "quill bold",
    at,
    "!!document.querySelector('.ql-editor strong')",
    tap("Hello"),
    keys("Control+a"),
    tap("bold", "button"),
)
case(
    "quill heading",
    at,
    "!!document.querySelector('.ql-editor h1')",
    tap("Hello"),
    tap("Normal", "button"),
    tap("Heading 1"),
)
at = page(
    "trix",
    "<trix-editor aria-label=Story></trix-editor>",
    head=css("trix/dist/trix.css") + js("trix/dist/trix.umd.min.js"),
)
case("trix types", at, says("trix-editor", "It was"), put("Story", "It was"))
case(
    "trix list",
    at,
    "!!document.querySelector('trix-editor ul')",
    tap("Story", "textbox"),
    tap("Bullets", "button"),
    typed("milk"),
)
at = page(
    "monaco",
    "<div id=e style='width:800px;height:300px'></div>",
    head=css("monaco-editor/min/vs/editor/editor.main.css"),
)
BODIES[at] = BODIES[at].replace(
    "</body>",
    """<script src="/npm/monaco-editor/min/vs/loader.js"></script><script>
require.config({paths: {vs: '/npm/monaco-editor/min/vs'}}); require(['vs/editor/editor.main'], () => {
ed = monaco.editor.create(document.getElementById('e'), {value: 'const a = 1;', language: 'javascript'}); });</script></body>""",
)
case(
    "monaco types",
    at,
    "ed.getValue().includes('let b')",
    tap("Editor content", "textbox"),
    keys("Control+a"),
    typed("let b = 2"),
)
case(
    "monaco commands",
    at,
    "!!document.querySelector('.quick-input-widget')?.checkVisibility()",
    tap("Editor content", "textbox"),
    keys("F1"),
)

# dates

at = page(
    "flatpickr",
    "<label>Day <input id=d></label>",
    head=css("flatpickr/dist/flatpickr.css") + js("flatpickr/dist/flatpickr.js"),
)
BODIES[at] = BODIES[at].replace(
    "</body>", "<script>fp = flatpickr('#d', {defaultDate: '2026-03-10'})</script></body>"
)
case("flatpickr day", at, worth("#d", "2026-03-21"), tap("Day", "textbox"), tap("21"))
case(
    "flatpickr next month",
    at,
    "/^2026-04-/.test(document.querySelector('#d').value)",
    tap("Day", "textbox"),
    tap("April 5, 2026"),
)
case("flatpickr month list", at, "fp.currentMonth === 8", tap("Day", "textbox"), choose("Month", "September"))
at = page(
    "pikaday",
    "<label>Day <input id=d></label>",
    head=css("pikaday/css/pikaday.css") + js("pikaday/pikaday.js"),
)
BODIES[at] = BODIES[at].replace(
    "</body>",
    "<script>pk = new Pikaday({field: d, defaultDate: new Date(2026, 2, 10), setDefaultDate: true})</script></body>",
)
case("pikaday day", at, "pk.getDate().getDate() === 19", tap("Day", "textbox"), tap("19", "button"))
case(
    "pikaday next month",
    at,
    "pk.getDate().getMonth() === 3 && pk.getDate().getDate() === 7",
    tap("Day", "textbox"),
    tap("Next Month", "button"),
    tap("7", "button"),
)
at = page(
    "air",
    "<label>Day <input id=d></label>",
    head=css("air-datepicker/air-datepicker.css") + js("air-datepicker/air-datepicker.js"),
)
BODIES[at] = BODIES[at].replace(
    "</body>", "<script>ad = new AirDatepicker('#d', {startDate: new Date(2026, 2, 10)})</script></body>"
)
case("air datepicker day", at, "ad.selectedDates[0]?.getDate() === 18", tap("Day", "textbox"), tap("18"))

# lists to choose from

_OPTIONS = "".join(
    f"<option value={word.lower()}>{word}</option>"
    for word in ("Apple", "Banana", "Cherry", "Damson", "Elder")
)
at = page(
    "tomselect",
    f"<label for=s>Fruit</label><select id=s>{_OPTIONS}</select><label for=m>Many</label><select id=m multiple>{_OPTIONS}</select>",
    head=css("tom-select/dist/css/tom-select.css") + js("tom-select/dist/js/tom-select.complete.js"),
)
BODIES[at] = BODIES[at].replace(
    "</body>", "<script>ts = new TomSelect('#s', {}); tm = new TomSelect('#m', {})</script></body>"
)
case("tom select one", at, "ts.getValue() === 'cherry'", tap("Apple"), tap("Cherry", "option"))
case(
    "tom select several",
    at,
    "tm.getValue().join() === 'banana,damson'",
    tap("Many", "combobox"),
    tap("Banana", "option"),
    tap("Damson", "option"),
)
case("tom select filtered", at, "ts.getValue() === 'elder'", tap("Apple"), typed("Eld"), keys("Enter"))
at = page(
    "choices",
    f"<label for=s>Fruit</label><select id=s>{_OPTIONS}</select>",
    head=css("choices.js/public/assets/styles/choices.css")
    + js("choices.js/public/assets/scripts/choices.js"),
)
BODIES[at] = BODIES[at].replace("</body>", "<script>ch = new Choices('#s')</script></body>")
case("choices picks", at, "ch.getValue(true) === 'damson'", tap("Apple"), tap("Damson", "option"))
case("choices filtered", at, "ch.getValue(true) === 'banana'", tap("Apple"), typed("ban"), keys("Enter"))
at = page(
    "select2",
    f"<label for=s>Fruit</label><select id=s style='width:300px'>{_OPTIONS}</select>",
    head=css("select2/dist/css/select2.css") + js("jquery3/dist/jquery.js", "select2/dist/js/select2.js"),
)
BODIES[at] = BODIES[at].replace("</body>", "<script>$('#s').select2()</script></body>")
case("select2 picks", at, worth("#s", "cherry"), tap("Apple", "combobox"), tap("Cherry", "option"))
case("select2 filtered", at, worth("#s", "banana"), tap("Apple", "combobox"), typed("Ban"), keys("Enter"))
at = page(
    "reactselect",
    "<div id=r></div>",
    entry="""import {createRoot} from 'react-dom/client'; import Select from 'react-select';
const options = ['Red', 'Green', 'Blue', 'Yellow'].map((label) => ({label, value: label.toLowerCase()}));
globalThis.picked = null; globalThis.many = [];
createRoot(document.querySelector('#r')).render(<div><Select options={options} aria-label="Colour" onChange={(o) => { picked = o.value; }} />
<Select isMulti options={options} aria-label="Colours" onChange={(all) => { many = all.map((o) => o.value); }} /></div>);""",
)
case("react-select picks", at, "picked === 'blue'", tap("Colour", "combobox"), tap("Blue", "option"))
case(
    "react-select filtered",
    at,
    "picked === 'green'",
    put("Colour", "gre", "combobox", slowly=True),
    keys("Enter"),
)
case(
    "react-select several",
    at,
    "many.join() === 'red,yellow'",
    tap("Colours", "combobox"),
    tap("Red", "option"),
    tap("Colours", "combobox"),
    tap("Yellow", "option"),
)
at = page(
    "tagify",
    "<input id=t value='one'>",
    head=css("@yaireo/tagify/dist/tagify.css") + js("@yaireo/tagify/dist/tagify.js"),
)
BODIES[at] = BODIES[at].replace("</body>", "<script>tg = new Tagify(t)</script></body>")
case(
    "tagify adds",
    at,
    "tg.value.map((v) => v.value).join() === 'one,two'",
    put("", "two", "textbox", submit=True),
)
case("tagify removes", at, "tg.value.length === 0", tap("remove tag", "button"))
at = page(
    "awesomplete",
    "<label>Language <input id=i></label>",
    head=css("awesomplete/awesomplete.css") + js("awesomplete/awesomplete.js"),
)
BODIES[at] = BODIES[at].replace(
    "</body>",
    "<script>aw = new Awesomplete(i, {list: ['Ada', 'Java', 'JavaScript', 'Haskell'], minChars: 1})</script></body>",
)
case(
    "awesomplete picks",
    at,
    worth("#i", "JavaScript"),
    put("Language", "Jav", "combobox", slowly=True),
    tap("JavaScript", "option"),
)
at = page(
    "intltel",
    "<label for=p>Phone</label><input id=p type=tel>",
    head=css("intl-tel-input/dist/css/intlTelInput.css")
    + js("intl-tel-input/dist/js/intlTelInputWithUtils.js"),
)
BODIES[at] = BODIES[at].replace(
    "</body>",
    "<script>it = (globalThis.intlTelInput.default ?? globalThis.intlTelInput)(p, {initialCountry: 'us'})</script></body>",
)
case(
    "intl-tel-input country",
    at,
    "(it.getSelectedCountryData ?? it.getSelectedCountry).call(it).iso2 === 'no'",
    tap("United States", "combobox"),
    typed("norw"),
    tap("Norway", "option"),
)
case(
    "intl-tel-input number",
    at,
    "/415/.test(document.querySelector('#p').value)",
    put("Phone", "415 555 2671"),
)

# tables and trees

_ROWS = ", ".join(
    f"{{id: {at}, name: '{name}', age: {20 + at}}}"
    for at, name in enumerate(("Ada", "Bob", "Cleo", "Dan", "Eve", "Finn"), 1)
)
at = page(
    "tabulator",
    "<div id=t></div>",
    head=css("tabulator-tables/dist/css/tabulator.css") + js("tabulator-tables/dist/js/tabulator.js"),
)
BODIES[at] = BODIES[at].replace(
    "</body>",
    f"""<script>tb = new Tabulator('#t', {{data: [{_ROWS}], layout: 'fitColumns', columns: [
{{title: 'Name', field: 'name', headerFilter: 'input', editor: 'input'}}, {{title: 'Age', field: 'age', editor: 'number'}}]}})</script></body>""",
)
case(
    "tabulator sorts",
    at,
    "tb.getData('active')[0].name === 'Ada' && tb.getSorters().length === 1",
    tap("Age"),
)
case("tabulator filters", at, "tb.getData('active').length === 1", put("", "Cleo", "searchbox", slowly=True))
case(
    "tabulator edits",
    at,
    "tb.getData().some((row) => row.name === 'Robert')",
    tap("Bob"),
    keys("Control+a"),
    typed("Robert"),
    keys("Enter"),
)
at = page(
    "aggrid",
    "<div id=g style='height:300px;width:700px'></div>",
    entry=f"""import * as ag from 'ag-grid-community';
ag.ModuleRegistry.registerModules([ag.AllCommunityModule]);
globalThis.grid = ag.createGrid(document.querySelector('#g'), {{rowData: [{_ROWS}], rowSelection: {{mode: 'multiRow'}},
columnDefs: [{{field: 'name', editable: true, filter: true}}, {{field: 'age'}}]}});""",
)
case("ag-grid sorts", at, "grid.getColumnState().find((c) => c.colId === 'age').sort === 'asc'", tap("Age"))
case(
    "ag-grid edits",
    at,
    "[1,2,3].some((n) => grid.getDisplayedRowAtIndex(n)?.data.name === 'Robert')",
    double("Bob", "gridcell"),
    keys("Control+a"),
    typed("Robert"),
    keys("Enter"),
)
case(
    "ag-grid selects",
    at,
    "grid.getSelectedRows().length === 1 && grid.getSelectedRows()[0].name === 'Cleo'",
    tap("Press Space to toggle row selection", "checkbox", 2),
)
at = page(
    "handsontable",
    "<div id=h></div>",
    head=css("handsontable/styles/handsontable.css", "handsontable/styles/ht-theme-main.css")
    + js("handsontable/dist/handsontable.full.js"),
)
BODIES[at] = BODIES[at].replace(
    "</body>",
    "<script>ht = new Handsontable(document.getElementById('h'), {data: [['a1', 'b1'], ['a2', 'b2']], rowHeaders: true, colHeaders: true, contextMenu: true, licenseKey: 'non-commercial-and-evaluation', themeName: 'ht-theme-main'})</script></body>",
)
case(
    "handsontable edits",
    at,
    "ht.getDataAtCell(1, 0) === 'x'",
    double("a2"),
    keys("Control+a"),
    typed("x"),
    keys("Enter"),
)
case("handsontable menu", at, "ht.countRows() === 3", right("a2"), tap("Insert row below"))
at = page(
    "datatables",
    f"<table id=t><thead><tr><th>Name<th>Age<tbody>{''.join(f'<tr><td>{name}<td>{20 + at}' for at, name in enumerate(('Ada', 'Bob', 'Cleo', 'Dan', 'Eve', 'Finn', 'Gus', 'Hana', 'Ida', 'Jon', 'Kim', 'Leo')))}</table>",
    head=css("datatables.net-dt/css/dataTables.dataTables.css")
    + js("jquery/dist/jquery.js", "datatables.net/js/dataTables.js"),
)
BODIES[at] = BODIES[at].replace("</body>", "<script>dt = new DataTable('#t')</script></body>")
case("datatables searches", at, "dt.page.info().recordsDisplay === 1", put("Search", "Hana", "searchbox"))
case("datatables pages", at, "dt.page() === 1", tap("2", "button"))
case("datatables length", at, "dt.page.len() === 25", choose("entries per page", "25"))
at = page(
    "jstree",
    "<div id=j><ul><li>Root<ul><li>Child one</li><li>Child two</li></ul></li></ul></div>",
    head=css("jstree/dist/themes/default/style.css") + js("jquery/dist/jquery.js", "jstree/dist/jstree.js"),
)
BODIES[at] = BODIES[at].replace(
    "</body>",
    "<script>$('#j').jstree({core: {check_callback: true}, plugins: ['contextmenu']})</script></body>",
)
case(
    "jstree opens",
    at,
    "document.querySelectorAll('#j .jstree-leaf').length === 2",
    double("Root", "treeitem"),
)
case(
    "jstree menu",
    at,
    "!!document.querySelector('.vakata-context')?.checkVisibility()",
    right("Root", "treeitem"),
)

# drag and drop, pictures, maps

at = page(
    "sortable",
    "<ul id=l><li>One</li><li>Two</li><li>Three</li></ul>",
    head=js("sortablejs/Sortable.js") + "<style>li{padding:10px;border:1px solid;width:200px}</style>",
)
BODIES[at] = BODIES[at].replace("</body>", "<script>so = Sortable.create(l)</script></body>")
case(
    "sortable moves",
    at,
    "[...document.querySelectorAll('#l li')].at(-1).textContent === 'One'",
    drag("One", "Three"),
)
case("sortable moves up", at, "document.querySelector('#l li').textContent === 'Three'", drag("Three", "One"))
at = page(
    "dragula",
    "<div id=a style='min-height:60px;width:200px;float:left'><div>Pen</div><div>Ink</div></div><div id=b style='width:200px;margin-left:300px;min-height:60px'><div>Box</div></div>",
    head=css("dragula/dist/dragula.css") + js("dragula/dist/dragula.js"),
)
BODIES[at] = BODIES[at].replace("</body>", "<script>dragula([a, b])</script></body>")
case("dragula moves", at, "document.querySelector('#b').textContent.includes('Pen')", drag("Pen", "Box"))
at = page(
    "nouislider",
    "<div id=s style='margin:60px;width:400px'></div>",
    head=css("nouislider/dist/nouislider.css") + js("nouislider/dist/nouislider.js"),
)
BODIES[at] = BODIES[at].replace(
    "</body>",
    "<script>noUiSlider.create(s, {start: [20, 80], range: {min: 0, max: 100}, handleAttributes: [{'aria-label': 'lower'}, {'aria-label': 'upper'}], keyboardDefaultStep: 10})</script></body>",
)
case(
    "noUiSlider by keys",
    at,
    "Math.round(s.noUiSlider.get(true)[0]) === 30",
    tap("lower", "slider"),
    keys("ArrowRight"),
)
case(
    "noUiSlider far", at, "Math.round(s.noUiSlider.get(true)[1]) === 100", tap("upper", "slider"), keys("End")
)
at = page(
    "leaflet",
    "<div id=m style='height:400px;width:600px'></div>",
    head=css("leaflet/dist/leaflet.css") + js("leaflet/dist/leaflet.js"),
)
BODIES[at] = BODIES[at].replace(
    "</body>",
    "<script>map = L.map('m', {zoomAnimation: false}).setView([51.5, 0], 5); mk = L.marker([51.5, 0], {alt: 'Greenwich', title: 'Greenwich'}).addTo(map).bindPopup('Zero degrees')</script></body>",
)
case("leaflet zooms", at, "map.getZoom() === 6", tap("Zoom in", "button"))
case("leaflet marker", at, "mk.isPopupOpen()", tap("Greenwich", "button"))
at = page("plyr", "<video id=v></video>", head=css("plyr/dist/plyr.css") + js("plyr/dist/plyr.js"))
BODIES[at] = BODIES[at].replace(
    "</body>", "<script>pl = new Plyr('#v', {iconUrl: '', loadSprite: false})</script></body>"
)
case("plyr mutes", at, "pl.muted === true", tap("Mute", "button"))
at = page(
    "swiper",
    "<div class=swiper style='width:500px'><div class=swiper-wrapper><div class=swiper-slide>Slide one</div><div class=swiper-slide>Slide two</div><div class=swiper-slide>Slide three</div></div><div class=swiper-button-prev></div><div class=swiper-button-next></div></div>",
    head=css("swiper/swiper-bundle.css") + js("swiper/swiper-bundle.js"),
)
BODIES[at] = BODIES[at].replace(
    "</body>",
    "<script>sw = new Swiper('.swiper', {navigation: {nextEl: '.swiper-button-next', prevEl: '.swiper-button-prev'}, speed: 0})</script></body>",
)
case("swiper next", at, "sw.activeIndex === 1", tap("Next slide", "button"))

# dialogs and menus

at = page(
    "bootstrap",
    """<div class=container><button class="btn btn-primary" data-bs-toggle=modal data-bs-target=#m>Launch demo</button>
<div class="modal fade" id=m tabindex=-1 aria-labelledby=ml aria-hidden=true><div class=modal-dialog><div class=modal-content><div class=modal-header><h1 class="modal-title fs-5" id=ml>Modal title</h1>
<button type=button class=btn-close data-bs-dismiss=modal aria-label=Close></button></div><div class=modal-body>Body</div><div class=modal-footer><button class="btn btn-primary" onclick="saved = true" data-bs-dismiss=modal>Save changes</button></div></div></div></div>
<div class=dropdown><button class="btn btn-secondary dropdown-toggle" data-bs-toggle=dropdown aria-expanded=false>Dropdown</button><ul class=dropdown-menu><li><a class=dropdown-item href=#a>Action</a><li><a class=dropdown-item href=#b>Another action</a></ul></div>
<div class=form-check><input class=form-check-input type=checkbox id=c><label class=form-check-label for=c>Default checkbox</label></div><div class="form-check form-switch"><input class=form-check-input type=checkbox role=switch id=w><label class=form-check-label for=w>Switch</label></div>
<label for=r class=form-label>Example range</label><input type=range class=form-range id=r>
<div class=accordion id=ac><div class=accordion-item><h2 class=accordion-header><button class="accordion-button collapsed" data-bs-toggle=collapse data-bs-target=#co>Item one</button></h2><div id=co class="accordion-collapse collapse"><div class=accordion-body>The inside</div></div></div></div>
<input type=radio class=btn-check name=o id=o1><label class="btn btn-outline-primary" for=o1>Radio one</label><input type=radio class=btn-check name=o id=o2><label class="btn btn-outline-primary" for=o2>Radio two</label></div>""",
    head=css("bootstrap/dist/css/bootstrap.css") + js("bootstrap/dist/js/bootstrap.bundle.js"),
)
case(
    "bootstrap modal",
    at,
    "globalThis.saved === true && !document.querySelector('.modal.show')",
    tap("Launch demo", "button"),
    tap("Save changes", "button"),
)
case("bootstrap menu", at, "location.hash === '#b'", tap("Dropdown", "button"), tap("Another action", "link"))
case("bootstrap switch", at, "document.querySelector('#w').checked", tap("Switch", "switch"))
case("bootstrap range", at, worth("#r", "80"), choose("Example range", 80, "slider"))
case("bootstrap accordion", at, shown("#co.show"), tap("Item one", "button"))
case("bootstrap radio", at, "document.querySelector('#o2').checked", tap("Radio two", "radio"))
at = page(
    "tippy",
    "<button id=b>Menu</button><button id=h>Hint</button>",
    head=css("tippy.js/themes/light.css")
    + js("@popperjs/core/dist/umd/popper.js", "tippy.js/dist/tippy-bundle.umd.js"),
)
BODIES[at] = BODIES[at].replace(
    "</body>",
    "<script>tippy(b, {content: '<button onclick=\"hit = 1\">Rename</button>', allowHTML: true, interactive: true, trigger: 'click'}); tippy(h, {content: 'A helpful hint', interactive: true})</script></body>",
)
case("tippy menu", at, "globalThis.hit === 1", tap("Menu", "button"), tap("Rename", "button"))
case(
    "tippy hint",
    at,
    says(".tippy-content", "A helpful hint"),
    hover("Hint", "button"),
    reads("A helpful hint"),
)
at = page(
    "sweetalert",
    "<button onclick=\"Swal.fire({title: 'Sure?', showCancelButton: true, confirmButtonText: 'Yes, do'}).then((r) => { said = r.isConfirmed; })\">Ask</button><button onclick=\"Swal.fire({title: 'Name', input: 'text'}).then((r) => { said = r.value; })\">Name it</button>",
    head=js("sweetalert2/dist/sweetalert2.all.js"),
)
case("sweetalert confirms", at, "globalThis.said === true", tap("Ask", "button"), tap("Yes, do", "button"))
case(
    "sweetalert asks",
    at,
    "globalThis.said === 'Ada'",
    tap("Name it", "button"),
    typed("Ada"),
    tap("OK", "button"),
)
at = page(
    "micromodal",
    """<button data-micromodal-trigger=m>Open</button><div id=m aria-hidden=true class=modal><div tabindex=-1 data-micromodal-close style="position:fixed;inset:0;background:#0008"><div role=dialog aria-modal=true aria-label=News style="background:#fff"><button aria-label="Close modal" data-micromodal-close>x</button><a href=#go>Go on</a></div></div></div>""",
    head=js("micromodal/dist/micromodal.js")
    + "<style>.modal{display:none}.modal.is-open{display:block}</style>",
)
BODIES[at] = BODIES[at].replace("</body>", "<script>MicroModal.init()</script></body>")
case("micromodal follows", at, "location.hash === '#go'", tap("Open", "button"), tap("Go on", "link"))
case(
    "micromodal closes",
    at,
    "!document.querySelector('.is-open')",
    tap("Open", "button"),
    tap("Close modal", "button"),
)

_UI = css("jquery-ui-dist/jquery-ui.css") + js("jquery/dist/jquery.js", "jquery-ui-dist/jquery-ui.js")
at = page(
    "jqueryui",
    """<label for=d>Date</label> <input id=d><label for=ac>Tags</label><input id=ac><select id=sm><option>Slow<option>Medium<option>Fast</select><label for=sp>Number</label><input id=sp>
<div id=sl style="margin:20px;width:300px"></div><ul id=mn style="width:150px"><li><div>Music</div><ul><li><div>Rock</div></li><li><div>Jazz</div></li></ul></li><li><div>Films</div></li></ul>
<div id=tb><ul><li><a href=#t1>First</a></li><li><a href=#t2>Second</a></li></ul><div id=t1>one</div><div id=t2>two</div></div><div id=dr style="width:80px;height:40px;background:#ccc;float:left">Token</div><div id=dp style="width:120px;height:80px;background:#eee;margin-left:400px">Basket</div>
<script>$('#d').datepicker({defaultDate: '03/10/2026'}); $('#ac').autocomplete({source: ['Basic', 'Boa', 'Cobol']}); $('#sm').selectmenu(); $('#sp').spinner(); $('#sl').slider({value: 10});
$('#mn').menu({select: (e, ui) => { chosen = ui.item.text().trim(); }}); $('#tb').tabs(); $('#dr').draggable(); $('#dp').droppable({drop: () => { dropped = true; }});</script>""",
    head=_UI,
)
case("jquery ui date", at, worth("#d", "03/20/2026"), tap("Date", "textbox"), tap("20"))
case(
    "jquery ui autocomplete",
    at,
    worth("#ac", "Cobol"),
    put("Tags", "co", "textbox", slowly=True),
    tap("Cobol"),
)
case("jquery ui select menu", at, worth("#sm", "Fast"), tap("Slow", "combobox"), tap("Fast", "option"))
case("jquery ui spinner", at, worth("#sp", "1"), put("Number", "0", "spinbutton"), keys("ArrowUp"))
case("jquery ui menu", at, "globalThis.chosen === 'Jazz'", hover("Music"), tap("Jazz"))
case("jquery ui tabs", at, shown("#t2"), tap("Second"))
case("jquery ui drop", at, "globalThis.dropped === true", drag("Token", "Basket"))

# components

at = page(
    "shoelace",
    """<sl-dropdown><sl-button slot=trigger caret>Edit</sl-button><sl-menu><sl-menu-item value=cut>Cut</sl-menu-item><sl-menu-item value=copy>Copy</sl-menu-item><sl-menu-item type=checkbox value=wrap>Wrap</sl-menu-item></sl-menu></sl-dropdown>
<sl-select label="Size"><sl-option value=s>Small</sl-option><sl-option value=l>Large</sl-option></sl-select><sl-input label=City></sl-input><sl-checkbox>Agree</sl-checkbox><sl-switch>Night</sl-switch><sl-range label=Level min=0 max=10></sl-range>
<sl-tab-group><sl-tab slot=nav panel=a>General</sl-tab><sl-tab slot=nav panel=b>Custom</sl-tab><sl-tab-panel name=a>A</sl-tab-panel><sl-tab-panel name=b>B</sl-tab-panel></sl-tab-group><sl-rating label=Stars></sl-rating>
<sl-details summary="More of it">Inside</sl-details><sl-radio-group label=Pick><sl-radio value=1>Uno</sl-radio><sl-radio value=2>Due</sl-radio></sl-radio-group><sl-button onclick="document.querySelector('sl-dialog').show()">Open dialog</sl-button><sl-dialog label=Dialog>Hello <sl-button slot=footer variant=primary onclick="document.querySelector('sl-dialog').hide()">Done</sl-button></sl-dialog>
<sl-tree><sl-tree-item>Leafy<sl-tree-item>Fern</sl-tree-item></sl-tree-item></sl-tree>""",
    head=css("@shoelace-style/shoelace/dist/themes/light.css"),
    entry="""
import '@shoelace-style/shoelace/dist/shoelace.js'; document.addEventListener('sl-select', (e) => { globalThis.chosen = e.detail.item.value; });""",
)
case("shoelace menu", at, "globalThis.chosen === 'copy'", tap("Edit", "button"), tap("Copy", "menuitem"))
case(
    "shoelace menu check",
    at,
    "document.querySelector('sl-menu-item[type=checkbox]').checked",
    tap("Edit", "button"),
    tap("Wrap", "menuitemcheckbox"),
)
case("shoelace select", at, worth("sl-select", "l"), tap("Size", "combobox"), tap("Large", "option"))
case("shoelace input", at, worth("sl-input", "Oslo"), put("City", "Oslo"))
case("shoelace check box", at, "document.querySelector('sl-checkbox').checked", tap("Agree", "checkbox"))
case("shoelace switch", at, "document.querySelector('sl-switch').checked", tap("Night", "switch"))
case("shoelace range", at, "document.querySelector('sl-range').value === 7", choose("Level", 7, "slider"))
case("shoelace tab", at, "document.querySelectorAll('sl-tab')[1].active", tap("Custom", "tab"))
case("shoelace radio", at, worth("sl-radio-group", "2"), tap("Due", "radio"))
case("shoelace details", at, "document.querySelector('sl-details').open", tap("More of it", "button"))
case(
    "shoelace dialog",
    at,
    "!document.querySelector('sl-dialog').open && judged.filter(([k]) => k === 'click').length === 2",
    tap("Open dialog", "button"),
    tap("Done", "button"),
)
case(
    "shoelace tree",
    at,
    "document.querySelector('sl-tree-item').expanded",
    tap("Leafy", "treeitem"),
    keys("ArrowRight"),
)
case(
    "shoelace rating",
    at,
    "document.querySelector('sl-rating').value >= 1",
    tap("Stars", "slider"),
    keys("ArrowRight"),
)
at = page(
    "mui",
    "<div id=r></div>",
    entry="""import {createRoot} from 'react-dom/client'; import {useState} from 'react';
import {Autocomplete, Button, Checkbox, Dialog, DialogActions, DialogTitle, FormControlLabel, Menu, MenuItem, Select, Slider, Switch, Tab, Tabs, TextField, InputLabel, FormControl, Rating, Chip, Tooltip} from '@mui/material';
globalThis.state = {};
const App = () => { const [at, setAt] = useState(null), [open, setOpen] = useState(false), [tab, setTab] = useState(0), [age, setAge] = useState('');
return <div><Button onClick={(e) => setAt(e.currentTarget)}>Dashboard</Button><Menu open={!!at} anchorEl={at} onClose={() => setAt(null)}>{['Profile', 'Logout'].map((one) => <MenuItem key={one} onClick={() => { state.menu = one; setAt(null); }}>{one}</MenuItem>)}</Menu>
<FormControl sx={{width: 200}}><InputLabel id="age">Age</InputLabel><Select labelId="age" label="Age" value={age} onChange={(e) => { setAge(e.target.value); state.age = e.target.value; }}><MenuItem value={10}>Ten</MenuItem><MenuItem value={20}>Twenty</MenuItem></Select></FormControl>
<Autocomplete options={['Alien', 'Brazil', 'Casablanca']} sx={{width: 200}} onChange={(e, v) => { state.film = v; }} renderInput={(p) => <TextField {...p} label="Film" />} />
<TextField label="Name" onChange={(e) => { state.name = e.target.value; }} /><FormControlLabel control={<Checkbox onChange={(e) => { state.check = e.target.checked; }} />} label="Gilad" /><FormControlLabel control={<Switch onChange={(e) => { state.on = e.target.checked; }} />} label="Airplane" />
<Slider aria-label="Volume" defaultValue={30} onChange={(e, v) => { state.volume = v; }} sx={{width: 200}} /><Tabs value={tab} onChange={(e, v) => { setTab(v); state.tab = v; }}><Tab label="Item One" /><Tab label="Item Two" /></Tabs><Rating name="stars" onChange={(e, v) => { state.stars = v; }} /><Chip label="Fruit" onDelete={() => { state.chip = true; }} />
<Button onClick={() => setOpen(true)}>Open alert</Button><Dialog open={open}><DialogTitle>Use location?</DialogTitle><DialogActions><Button onClick={() => { state.agreed = true; setOpen(false); }}>Agree</Button></DialogActions></Dialog><Tooltip title="Delete it"><Button aria-label="bin" onClick={() => { state.bin = true; }}>x</Button></Tooltip></div>; };
createRoot(document.querySelector('#r')).render(<App />);""",
)
case("mui menu", at, "state.menu === 'Logout'", tap("Dashboard", "button"), tap("Logout", "menuitem"))
case("mui select", at, "state.age === 20", tap("Age", "combobox"), tap("Twenty", "option"))
case(
    "mui autocomplete",
    at,
    "state.film === 'Casablanca'",
    put("Film", "Cas", "combobox", slowly=True),
    tap("Casablanca", "option"),
)
case("mui text", at, "state.name === 'Ada'", put("Name", "Ada"))
case("mui check box", at, "state.check === true", tap("Gilad", "checkbox"))
case("mui switch", at, "state.on === true", tap("Airplane", "switch"))
case("mui slider", at, "state.volume === 100", choose("Volume", 100, "slider"))
case("mui tab", at, "state.tab === 1", tap("Item Two", "tab"))
case("mui rating", at, "state.stars === 4", tap("4 Stars", "radio"))
case("mui dialog", at, "state.agreed === true", tap("Open alert", "button"), tap("Agree", "button"))
at = page(
    "material",
    """<md-filled-button onclick="hit = 1">Save it</md-filled-button><md-outlined-text-field label=Name></md-outlined-text-field><label><md-checkbox></md-checkbox>Remember</label><label><md-switch></md-switch> Wifi</label><label><md-radio name=a value=1></md-radio>Cats</label>
<md-outlined-select label=Fruit><md-select-option value=a><div slot=headline>Apple</div></md-select-option><md-select-option value=b><div slot=headline>Pear</div></md-select-option></md-outlined-select><md-slider labeled aria-label=Sound></md-slider>
<span style="position:relative"><md-outlined-button id=mb onclick="document.querySelector('md-menu').open = true">Show menu</md-outlined-button><md-menu anchor=mb><md-menu-item onclick="menu = 'b'"><div slot=headline>Banana</div></md-menu-item></md-menu></span><md-tabs><md-primary-tab>Video</md-primary-tab><md-primary-tab>Photos</md-primary-tab></md-tabs><md-icon-button aria-label=Heart onclick="heart = 1">h</md-icon-button>""",
    entry="import '@material/web/all.js';",
)
case("material button", at, "globalThis.hit === 1", tap("Save it", "button"))
case("material text", at, worth("md-outlined-text-field", "Ada"), put("Name", "Ada"))
case("material check box", at, "document.querySelector('md-checkbox').checked", tap("Remember", "checkbox"))
case("material switch", at, "document.querySelector('md-switch').selected", tap("Wifi", "switch"))
case("material select", at, worth("md-outlined-select", "b"), tap("Fruit", "combobox"), tap("Pear", "option"))
case("material menu", at, "globalThis.menu === 'b'", tap("Show menu", "button"), tap("Banana", "menuitem"))
case("material tab", at, "document.querySelectorAll('md-primary-tab')[1].active", tap("Photos", "tab"))
case("material icon", at, "globalThis.heart === 1", tap("Heart", "button"))
case("material slider", at, "document.querySelector('md-slider').value === 80", choose("Sound", 80, "slider"))

# files, and what browsers have of their own

at = page(
    "dropzone",
    '<form action="/upload" class=dropzone id=dz></form>',
    head=css("dropzone/dist/dropzone.css") + js("dropzone/dist/dropzone-min.js"),
)
BODIES[at] = BODIES[at].replace("</body>", "<script>new Dropzone('#dz')</script></body>")
case("dropzone uploads", at, "posted:Dear reader", upload("Drop files here", "button"))
at = page(
    "filepond",
    "<input type=file id=f>",
    head=css("filepond/dist/filepond.css") + js("filepond/dist/filepond.js"),
)
BODIES[at] = BODIES[at].replace("</body>", "<script>pond = FilePond.create(f)</script></body>")
case("filepond takes", at, "pond.getFiles().length === 1", upload("Browse", "button"))
at = page(
    "native",
    """<label>Born <input type=date id=d></label><label>At <input type=time id=t></label><label>Ink <input type=color id=c></label><label>Loud <input type=range id=r></label><label>Browser <input list=bl id=l></label><datalist id=bl><option>Firefox<option>Chrome</datalist>
<label>Pets <select multiple id=m><option>Cat<option>Dog<option>Fish</select></label><details id=de><summary>Details here</summary><button onclick="deep = 1">Deep</button></details><button popovertarget=po>Show popover</button><div popover id=po><button onclick="pop = 1">In popover</button></div>
<button onclick="dl.showModal()">Modal</button><dialog id=dl><form method=dialog><button value=yes>Yes</button><button value=no>No</button></form></dialog><div inert><button>Never</button></div><div contenteditable id=ce aria-label=Notes style="border:1px solid;min-height:20px"></div>
<a href="/apg/content/patterns/link/examples/link.html" target=_blank>New window</a><a href="/npm/jquery/README.md" download="read.txt">Get file</a><button onclick="onbeforeunload = (e) => e.preventDefault(); dirty = 1">Dirty</button><a href="/widget/sortable">Away</a>
<button onclick="navigator.clipboard?.writeText('copied').then(() => { clip = 1; }, () => { clip = 2; })">Copy</button><a href=#x onclick="event.preventDefault(); keysheld = [event.ctrlKey, event.shiftKey].join()">Held</a><span id=src draggable=true ondragstart="event.dataTransfer.setData('text', 'x')" style="display:inline-block;padding:8px;background:#ccc">Parcel</span><span id=dst ondragover="event.preventDefault()" ondrop="dropped = event.dataTransfer.getData('text')" style="display:inline-block;padding:8px;background:#eee">Truck</span><label>Who <input id=w></label>
<iframe title=Inner srcdoc="<label>Inside <input id=i></label><button onclick='parent.inner = 1'>Inner button</button>" style="width:300px;height:80px"></iframe><div style="height:120px;width:200px;overflow:auto"><div style="height:900px">Top of it</div><button onclick="low = 1">Low down</button></div>
<a href="#img" onclick="pic = 1"><img src="/npm/leaflet/dist/images/marker-icon.png" alt=Pin style="float:left"></a>""",
)
case("native date", at, worth("#d", "2026-03-14"), choose("Born", "2026-03-14", "date"))
case("native time", at, worth("#t", "13:45"), choose("At", "13:45", "date"))
case("native colour", at, worth("#c", "#ff0000"), choose("Ink", "#ff0000", "color"))
case("native range", at, worth("#r", "70"), choose("Loud", 70, "slider"))
case("native datalist", at, worth("#l", "Chrome"), put("Browser", "Chrome", "combobox"))
case(
    "native several options",
    at,
    "[...document.querySelector('#m').selectedOptions].map((o) => o.label).join() === 'Cat,Fish'",
    choose("Pets", ["Cat", "Fish"], "listbox"),
)
case("native details", at, "globalThis.deep === 1", tap("Details here"), tap("Deep", "button"))
case("native popover", at, "globalThis.pop === 1", tap("Show popover", "button"), tap("In popover", "button"))
case(
    "native dialog",
    at,
    "document.querySelector('#dl').returnValue === 'yes'",
    tap("Modal", "button"),
    tap("Yes", "button"),
)
case("native editable", at, says("#ce", "Some notes"), put("Notes", "Some notes", ""))
case("native frame", at, "globalThis.inner === 1", tap("Inner button", "button"))
case(
    "native frame field",
    at,
    "document.querySelector('iframe').contentDocument.querySelector('#i').value === 'deep'",
    put("Inside", "deep"),
)
case("native held", at, "globalThis.keysheld === 'true,true'", held("Held", "link", "ctrl", "shift"))
case("native drag", at, "globalThis.dropped === 'x'", drag("Parcel", "Truck"))
case("native scroller", at, "globalThis.low === 1", tap("Low down", "button"))
case("native picture link", at, "globalThis.pic === 1", tap("Pin", "link"))
case(
    "native new window",
    at,
    "location.pathname.endsWith('link.html')",
    tap("New window", "link"),
    tab("Link", 1),
)
case(
    "native double",
    at,
    "judged.some(([kind, el]) => kind === 'dblclick' && el.textContent === 'Parcel')",
    double("Parcel"),
)
case(
    "native middle",
    at,
    "judged.some(([kind]) => kind === 'auxclick')",
    Step("tap", "Held", "link", fields={"button": "middle"}),
)
case(
    "native leaves",
    at,
    "location.pathname === '/widget/sortable'",
    tap("Dirty", "button"),
    tap("Away", "link"),
    answer("Leave"),
)
case(
    "native stays",
    at,
    "location.pathname === '/widget/native'",
    tap("Dirty", "button"),
    tap("Away", "link"),
    answer("Stay"),
)
