# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torq-outline-executor-regions: what one executor computes in one go becomes a function of its own."""

import heapq
import itertools
from collections.abc import Iterable, Sequence, Set

from torch_mlir import ir
from torch_mlir.dialects import func

from torq_mlir.dialects.locations import fuse
from torq_mlir.passes import PassFailure
from torq_mlir.rewriting.assignment import EXECUTOR_ATTRIBUTE, EXECUTORS, assigned_executor, computes_nothing

_NPU, *_, _HOST = EXECUTORS

# Positions of operations in their block: all of a region, or a single one that is not outlined.
_Group = list[int]


def run(op: ir.Operation, executors: Sequence[str] = ()) -> None:
    chosen = tuple(executors) or tuple(each for each in EXECUTORS if each != _HOST)
    unknown = [each for each in chosen if each not in EXECUTORS]
    if unknown:
        op.location.emit_error(f"'{unknown[0]}' is no executor; they are {', '.join(EXECUTORS)}")
        raise PassFailure
    functions = [each for each in op.regions[0].blocks[0].operations if isinstance(each, func.FuncOp)]
    outlined = {each.name.value for each in functions if assigned_executor(each.operation) is not None}
    names = {each.name.value for each in functions}
    for function in functions:
        if not function.is_external and function.name.value not in outlined:
            _outline(function, chosen, outlined, names)


def _outline(function: func.FuncOp, executors: Sequence[str], outlined: Set[str], names: set[str]) -> None:
    """Outlines the regions of a function.

    Args:
      outlined: functions that are a region; calls of them stay as they are.
      names: of all functions; those of the new ones are added.
    """
    blocks = list(function.regions[0].blocks)
    operations = [each.operation for each in blocks[0].operations]
    if len(blocks) > 1 or any(not each.results for each in operations[:-1]):
        return  # the order of operations that have effects stays as it is
    graph = _Graph(operations[:-1], executors, outlined)
    constants = [each for each in operations[:-1] if _is_constant(each)]
    groups = _joined(graph, _by_stage(graph))
    terminator = operations[-1]
    for group in _sorted(graph, groups):
        members = [graph.operations[each] for each in sorted(group)]
        executor = graph.executors[group[0]]
        if executor is None:
            members[0].move_before(terminator)
            continue
        numbered = (f"{function.name.value}_{executor}_{number}" for number in itertools.count())
        name = next(each for each in numbered if each not in names)
        names.add(name)
        _move_to_function(function, members, terminator, executor, name)
    for constant in constants:
        if not any(True for _ in constant.results[0].uses):
            constant.erase()


class _Graph:
    """Operations of a block and how they depend on each other.

    Attributes:
      operations: without constants, in the order of the block.
      executors: of each; None for what stays where it is.
      uses: positions of the operations that each one uses the results of.
    """

    def __init__(self, operations: Sequence[ir.Operation], executors: Sequence[str], outlined: Set[str]) -> None:
        self.operations = [each for each in operations if not _is_constant(each)]
        positions = {result: at for at, each in enumerate(self.operations) for result in each.results}
        self.uses = [
            sorted({positions[value] for value in _used_values([each]) if value in positions})
            for each in self.operations
        ]
        calls = [each.name == "func.call" and each.attributes["callee"].value in outlined for each in self.operations]
        own = [_HOST if call else _executor(each) for each, call in zip(self.operations, calls, strict=True)]
        self.executors = [
            executor if executor in executors and not call else None
            for executor, call in zip(self._with_those_between(own), calls, strict=True)
        ]

    def _with_those_between(self, own: list[str | None]) -> list[str | None]:
        """What any executor can have belongs to the one that computes what it reads and reads what it makes."""
        before = [{each} if each is not None else set() for each in own]
        after = [set(each) for each in before]
        for position, uses in enumerate(self.uses):
            if own[position] is None:
                before[position] = set().union(*(before[use] for use in uses)) if uses else set(EXECUTORS)
        for position in reversed(range(len(own))):
            for use in self.uses[position]:
                if own[use] is None:
                    after[use] |= after[position]
        return [
            executor or min(before[at] & after[at], key=EXECUTORS.index, default=_HOST)
            for at, executor in enumerate(own)
        ]


def _executor(operation: ir.Operation) -> str | None:
    """Of an operation as such; None where any executor can have it."""
    executor = assigned_executor(operation)
    if executor is None and operation.name.startswith("torq_hl."):
        return _NPU
    return executor if executor is not None or computes_nothing(operation) else _HOST


def _by_stage(graph: _Graph) -> list[_Group]:
    """Operations of one executor that as many changes of the executor come before, at most. These make no cycles."""
    stages: list[int] = []
    groups: dict[tuple[object, int], _Group] = {}
    for position, executor in enumerate(graph.executors):
        before = [stages[each] + (graph.executors[each] != executor) for each in graph.uses[position]]
        stages.append(max(before, default=0))
        key = (executor, stages[-1]) if executor is not None else (None, position)
        groups.setdefault(key, []).append(position)
    return list(groups.values())


def _joined(graph: _Graph, groups: list[_Group]) -> list[_Group]:
    """Joins groups of one executor until joining any two would make a cycle."""
    candidates = [each for each in groups if graph.executors[each[0]] is not None]
    for first in list(candidates):
        for second in [each for each in candidates if each is not first]:
            if not first or not second or graph.executors[first[0]] != graph.executors[second[0]]:
                continue
            others = [each for each in groups if each and each is not first and each is not second]
            if _order(graph, [*others, first + second]) is not None:
                first += second
                second.clear()
    return [each for each in groups if each]


def _sorted(graph: _Graph, groups: list[_Group]) -> list[_Group]:
    ordered = _order(graph, groups)
    assert ordered is not None, "groups make no cycles"
    return ordered


def _order(graph: _Graph, groups: list[_Group]) -> list[_Group] | None:
    """The groups, each after those it uses, else as in the block; None where they use each other."""
    group_of = {position: at for at, group in enumerate(groups) for position in group}
    needs = [{group_of[use] for each in group for use in graph.uses[each]} - {at} for at, group in enumerate(groups)]
    users: list[list[int]] = [[] for _ in groups]
    for at, needed in enumerate(needs):
        for each in needed:
            users[each].append(at)
    missing = [len(each) for each in needs]
    ready = [(min(group), at) for at, group in enumerate(groups) if not missing[at]]
    heapq.heapify(ready)
    ordered = []
    while ready:
        _, at = heapq.heappop(ready)
        ordered.append(groups[at])
        for user in users[at]:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, (min(groups[user]), user))
    return ordered if len(ordered) == len(groups) else None


def _move_to_function(
    caller: func.FuncOp, members: list[ir.Operation], before: ir.Operation, executor: str, name: str
) -> None:
    """Replaces operations by a call of a function that consists of them."""
    inside = set(members)
    used = [value for value in _used_values(members) if _owner(value) not in inside]
    constants = [value for value in used if _owner(value) is not None and _is_constant(_owner(value))]
    arguments = [value for value in used if value not in constants]
    results = [value for each in members for value in each.results if _is_used_outside(value, inside)]
    attribute = ir.StringAttr.get(executor, caller.context)
    with fuse(each.location for each in members):
        with ir.InsertionPoint(caller):
            types = [value.type for value in arguments], [value.type for value in results]
            callee = func.FuncOp(name, types, visibility="private")
        callee.attributes[EXECUTOR_ATTRIBUTE] = attribute
        entry = callee.add_entry_block()
        mapping = dict(zip(arguments, entry.arguments, strict=True))
        with ir.InsertionPoint(entry):
            for value in constants:
                mapping[value] = value.owner.operation.clone().results[0]
            for each in members:
                copy = each.clone().operation
                mapping |= zip(each.results, copy.results, strict=True)
                _map_operands(copy, mapping)
            func.ReturnOp([mapping[value] for value in results])
        with ir.InsertionPoint(before):
            call = func.CallOp(callee, arguments)
    call.operation.attributes[EXECUTOR_ATTRIBUTE] = attribute
    for old, new in zip(results, call.results, strict=True):
        old.replace_all_uses_with(new)
    for each in reversed(members):
        each.erase()


def _used_values(operations: Iterable[ir.Operation]) -> list[ir.Value]:
    """Values from outside of an operation that it or its regions use, each once."""
    used: dict[ir.Value, None] = {}
    for operation in operations:
        defined: set[ir.Value] = set()

        def visit(nested: ir.Operation, defined: set[ir.Value] = defined) -> ir.WalkResult:
            used.update(dict.fromkeys(value for value in nested.operation.operands if value not in defined))
            defined.update(nested.operation.results)
            for region in nested.operation.regions:
                for block in region.blocks:
                    defined.update(block.arguments)
            return ir.WalkResult.ADVANCE

        operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return list(used)


def _is_constant(operation: ir.Operation) -> bool:
    """Whether it is copied into every region that uses it."""
    return operation.name == "arith.constant" or (operation.name == "tensor.empty" and not operation.operands)


def _owner(value: ir.Value) -> ir.Operation | None:
    return None if isinstance(value.owner, ir.Block) else value.owner.operation


def _is_used_outside(value: ir.Value, inside: set[ir.Operation]) -> bool:
    block = value.owner.operation.block
    for use in value.uses:
        user = use.owner.operation
        while user.block != block:  # it is in a region of an operation of the block
            user = user.parent.operation
        if user not in inside:
            return True
    return False


def _map_operands(operation: ir.Operation, mapping: dict[ir.Value, ir.Value]) -> None:
    def visit(nested: ir.Operation) -> ir.WalkResult:
        for index, operand in enumerate(nested.operation.operands):
            if operand in mapping:
                nested.operation.operands[index] = mapping[operand]
        return ir.WalkResult.ADVANCE

    operation.walk(visit)
