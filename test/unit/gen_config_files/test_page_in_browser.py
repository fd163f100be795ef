# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page as people use it, in Chromium without a window."""

import dataclasses
import json
import os
import shutil
import time
from urllib.parse import quote

import pytest
from sample_reports import cnn_report, large_report, layer, result, values
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from torq_mlir.gen_config.files import IrText, Report
from torq_mlir.gen_config.page import render_page

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
]
HOSTILE = "</template><script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\">"


def start(profile):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        reason = "needs a browser: apt-get install chromium chromium-driver"
        if "TORQ_MLIR_REQUIRE_BROWSER" in os.environ:
            pytest.fail(reason)
        pytest.skip(reason)
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = start(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The pages that are looked at."""
    folder = tmp_path_factory.mktemp("pages")
    cnn = cnn_report()
    long = dataclasses.replace(
        cnn.layers[0], name="/backbone/" + "block_with_a_long_name" * 6, ir=IrText("%0 = " * 400)
    )
    hostile = layer(0, HOSTILE, {"nss": result(values=values(HOSTILE), ir=IrText(HOSTILE))}, name=HOSTILE)
    pages = {
        "cnn": cnn,
        "long": dataclasses.replace(cnn, layers=(*cnn.layers, long)),
        "hostile": Report(cnn.model, {}, (hostile,)),
        "large": large_report(500),
    }
    for name, report in pages.items():
        (folder / f"{name}.html").write_text(render_page(report), encoding="utf-8")
    return folder


@pytest.fixture
def open_page(browser, folder):
    """Opens a page of a given name, fragment, width and colour scheme. Nothing may be fetched or go wrong meanwhile."""

    def open_page(name, fragment="", width=1280, scheme="light"):
        browser.get("about:blank")
        screen = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.get(f"file://{folder}/{name}.html{fragment}")
        return browser

    browser.get_log("performance"), browser.get_log("browser")
    yield open_page
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [each["params"]["request"]["url"] for each in events if each["method"] == "Network.requestWillBeSent"]
    assert [url for url in urls if not url.startswith((f"file://{folder}/", "data:", "about:"))] == []
    assert any(url.startswith("file:") for url in urls)


def names(page):
    """Of the layers that are shown, in order."""
    return page.execute_script(
        "return [...document.querySelectorAll('.layer:not([hidden])')].map(layer => layer.dataset.name)"
    )


def heading(page, key):
    return page.find_element(By.CSS_SELECTOR, f"thead [data-sort='{key}']")


def test_sorting(open_page):
    page = open_page("cnn")
    order = names(page)
    heading(page, "sqnr").click()
    ascending = ["Conv_2", "Flatten_5", "Gemm_6", "Conv_0", "Relu_1", "Relu_3", "GlobalLpPool_4"]
    assert names(page) == ascending
    assert page.execute_script("return document.querySelector('[aria-sort]').innerText.trim()").startswith("SQNR")
    heading(page, "sqnr").click()
    assert names(page) == ["Conv_0", "Relu_1", "Relu_3", "Conv_2", "Flatten_5", "Gemm_6", "GlobalLpPool_4"]
    heading(page, "name").click()
    assert names(page) == sorted(order)
    heading(page, "host").click()
    assert names(page)[:2] == ["Conv_2", "GlobalLpPool_4"]
    heading(page, "use").click()
    assert names(page)[-3:] == ["Conv_2", "Gemm_6", "GlobalLpPool_4"]
    heading(page, "index").click()
    assert names(page) == order


def test_filters(open_page):
    page = open_page("cnn")
    find = page.find_element(By.ID, "find")
    find.send_keys("conv")
    assert names(page) == ["Conv_0", "Conv_2"]
    assert page.find_element(By.ID, "count").text == "2 of 7"
    page.find_element(By.CSS_SELECTOR, "#by-executor").send_keys("css")
    assert names(page) == ["Conv_2"]
    find.send_keys("x")
    assert names(page) == []
    assert page.find_element(By.ID, "nothing").is_displayed()
    page.find_element(By.CSS_SELECTOR, "[type=reset]").click()
    time.sleep(0.05)
    assert len(names(page)) == 7
    page.find_element(By.ID, "by-status").send_keys("error")
    assert names(page) == ["GlobalLpPool_4"]


def test_links_to_a_layer(open_page):
    page = open_page("cnn", "#layer-Conv_2")
    detail = page.find_element(By.CSS_SELECTOR, "#layer-Conv_2 .detail")
    assert "1024 of 4096 differ, by up to 5 LSB, where 1 LSB is allowed" in detail.text
    assert page.execute_script("return document.activeElement.innerText") == "Conv_2"
    top = page.execute_script("return document.getElementById('layer-Conv_2').getBoundingClientRect().top")
    assert 0 <= top < 800
    page.find_element(By.ID, "find").send_keys("Gemm")
    page.find_element(By.LINK_TEXT, "Conv_0").click()
    assert page.find_element(By.CSS_SELECTOR, "#layer-Conv_0 .detail").is_displayed()
    assert len(names(page)) == 7


@pytest.mark.parametrize(
    ("link", "opened"),
    [("#layer-" + quote(HOSTILE), HOSTILE), ("#layer-%zz", None), ("#layer-none", None), ("#layers", None)],
)
def test_typed_links(open_page, link, opened):
    page = open_page("hostile", link)
    shown = [each.get_attribute("data-name") for each in page.find_elements(By.CSS_SELECTOR, ".layer:has(.detail)")]
    assert shown == ([opened] if opened else [])


def test_details_of_a_layer(open_page):
    page = open_page("cnn")
    assert page.find_elements(By.CSS_SELECTOR, ".detail") == []
    button = page.find_element(By.CSS_SELECTOR, "#layer-Conv_0 .toggle")
    button.send_keys(Keys.ENTER)
    assert button.get_attribute("aria-expanded") == "true"
    assert page.current_url.endswith("#layer-Conv_0")
    shown = [each.text for each in page.find_elements(By.CSS_SELECTOR, "#layer-Conv_0 pre") if each.is_displayed()]
    assert shown == ["func.func @main(%arg0: tensor<1x3x32x32xi8>)", '"torq_hl.conv2d"(%0) {pad = 1}']
    button.send_keys(Keys.SPACE)
    assert not page.find_element(By.CSS_SELECTOR, "#layer-Conv_0 .detail").is_displayed()
    page.find_element(By.CSS_SELECTOR, "#layer-Relu_1 .toggle").click()
    notes = page.find_element(By.CSS_SELECTOR, "#layer-Relu_1 .notes").text
    assert notes.startswith("fused into Conv_0 in the full model, which runs on nss")


def test_histograms(open_page):
    page = open_page("cnn")
    (drawing,) = page.find_elements(By.CSS_SELECTOR, ".histogram svg")
    assert drawing.get_attribute("aria-label") == "t3: reference from -110 to 120, ours from -104 to 127"
    boxes = [path.rect for path in drawing.find_elements(By.CSS_SELECTOR, "path")]
    assert all(box["width"] > 200 and box["height"] > 40 for box in boxes)


CONTRAST = r"""
const channel = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const WEIGHTS = [0.2126, 0.7152, 0.0722];
const luminance = (rgb) => rgb.reduce((sum, v, i) => sum + WEIGHTS[i] * channel(v / 255), 0);
const colour = (text) => text.match(/[\d.]+/g).map(Number);
const background = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const found = colour(getComputedStyle(each).backgroundColor);
    if (found.length === 3 || found[3] === 1) return found.slice(0, 3);
  }
  return [255, 255, 255];
};
const low = [];
for (const element of document.querySelectorAll("body *")) {
  const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!text || !element.checkVisibility() || element.closest("script, style")) continue;
  const [a, b] = [luminance(colour(getComputedStyle(element).color).slice(0, 3)), luminance(background(element))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) low.push([element.className || element.tagName, element.innerText.slice(0, 20), ratio]);
}
return [luminance(background(document.body)), low];
"""


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_colours(open_page, scheme, dark):
    """Every text has the contrast of 4.5 to 1 that WCAG 2.2 asks for (AA)."""
    page = open_page("cnn", "#layer-Conv_2", scheme=scheme)
    background, too_low = page.execute_script(CONTRAST)
    assert (background < 0.1) == dark
    assert too_low == []


def test_phone(open_page):
    page = open_page("long", "#layer-Conv_2", width=360)
    for button in page.find_elements(By.CSS_SELECTOR, ".toggle[aria-expanded=false]"):
        button.send_keys(Keys.ENTER)
    page.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.execute_script("return document.documentElement.scrollWidth") == 360
    beyond = page.execute_script(
        "return [...document.querySelectorAll('body *')].filter((each) => !each.closest('pre, .skip')"
        " && each.checkVisibility() && each.getBoundingClientRect().right > 361)"
        ".map((each) => each.outerHTML.slice(0, 80))"
    )
    assert beyond == []
    caption = page.find_element(By.CSS_SELECTOR, "#layer-Conv_2 caption")
    assert caption.size["width"] > 3 * caption.size["height"]
    page.find_element(By.ID, "sort").send_keys("lowest SQNR")
    assert names(page)[0] == "Conv_2"


def test_names_from_a_model_are_text(open_page):
    page = open_page("hostile")
    page.find_element(By.CSS_SELECTOR, ".toggle").click()
    assert page.find_element(By.CSS_SELECTOR, ".toggle").text == HOSTILE
    assert HOSTILE in page.find_element(By.CSS_SELECTOR, ".detail").text
    assert page.title == "cnn: layers and executors"
    assert page.find_elements(By.TAG_NAME, "img") == []


def test_controls_have_names(open_page):
    page = open_page("cnn", "#layer-Conv_2")
    controls = page.find_elements(
        By.CSS_SELECTOR, "button, input, select, summary, a[href]:not([tabindex='-1']), [role=img]"
    )
    shown = [each for each in controls if each.is_displayed()]
    assert len(shown) > 20
    assert [each.get_attribute("outerHTML") for each in shown if not each.accessible_name.strip()] == []
    assert page.execute_script("return document.documentElement.lang") == "en"


def test_large_model(open_page):
    """What is not looked at is not there: the page stays small enough to sort and filter while one types."""
    page = open_page("large")
    assert page.execute_script("return document.querySelectorAll('*').length") < 500 * 45
    heading(page, "sqnr").click()
    assert names(page)[:3] == ["Conv_0", "Add_20", "Relu_40"]
    page.find_element(By.ID, "find").send_keys("_499")
    assert names(page) == ["Relu_499" if 499 % 3 == 1 else "Conv_499"]
