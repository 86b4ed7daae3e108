// Control flow of the widened kernel; see schedule.h.
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "simt/compile/lanes/widen.h"

namespace trine::simt::lanes {

Widener::Widener(llvm::Function& kernel, const Group& group, const Order& order, const llvm::LoopInfo& loops,
                 const Shapes& shapes, const Schedule& schedule, Driver& driver, bool avx512)
    : kernel_(kernel),
      group_(group),
      order_(order),
      loops_(loops),
      shapes_(shapes),
      schedule_(schedule),
      driver_(driver),
      out_(driver.function()),
      build_(kernel.getContext()),
      arrived_(order.nodes.size()),
      start_(order.nodes.size()),
      avx512_(avx512) {}

void Widener::run() {
  llvm::Type* mask = driver_.group_mask()->getType();
  for (int i = 0; i < order_.exit(); ++i) {
    const llvm::BasicBlock* block = order_.nodes[size_t(i)].block;
    start_[size_t(i)] = new_block(block ? block->getName() : "round_again");
    if (!block || !mask_known(i)) arrived_[size_t(i)] = new_variable(mask, "arrived");
    if (block && schedule_.at(i).same_as) own_mask_[schedule_.at(i).same_as] = nullptr;
  }
  start_.back() = driver_.returned();
  for (int i = 0; i < order_.exit(); ++i)  // in this order: it must not change from run to run
    if (const auto found = own_mask_.find(order_.nodes[size_t(i)].block); found != own_mask_.end())
      own_masks_in_order_.push_back(found->second = new_variable(mask, "lanes"));
  begin(driver_.body());
  for (int i = 0; i < order_.exit(); ++i) {
    if (!schedule_.at(i).reached) {
      build_.SetInsertPoint(start_[size_t(i)]);
      build_.CreateUnreachable();
    } else if (order_.nodes[size_t(i)].end_of) {
      end_of_loop(i);
    } else {
      block(i);
    }
  }
}

void Widener::begin(llvm::BasicBlock* at) {
  build_.SetInsertPoint(at);
  for (llvm::AllocaInst* arrived : arrived_)
    if (arrived) build_.CreateStore(llvm::Constant::getNullValue(arrived->getAllocatedType()), arrived);
  if (at == driver_.body()) build_.CreateBr(start_[0]);
}

llvm::Value* Widener::mask_of(int node) {
  const Visit& visit = schedule_.at(node);
  if (visit.everyone) return driver_.group_mask();
  llvm::AllocaInst* from = visit.same_as ? own_mask_[visit.same_as] : arrived_[size_t(node)];
  return build_.CreateLoad(from->getAllocatedType(), from, "mask");
}

void Widener::block(int node) {
  const Visit& visit = schedule_.at(node);
  llvm::BasicBlock& block = *order_.nodes[size_t(node)].block;
  node_ = node;
  local_.clear(), local_vector_.clear(), in_step_.clear();
  build_.SetInsertPoint(start_[size_t(node)]);
  mask_ = mask_of(node);
  if (!mask_known(node)) build_.CreateStore(llvm::Constant::getNullValue(mask_->getType()), arrived_[size_t(node)]);
  if (visit.guarded) {
    llvm::BasicBlock* populated = new_block(block.getName());
    build_.CreateCondBr(any(mask_), populated, start_[size_t(Schedule::first(visit.waiting))]);
    build_.SetInsertPoint(populated);
  }
  if (const auto found = own_mask_.find(&block); found != own_mask_.end()) build_.CreateStore(mask_, found->second);
  prologue_ = build_.Insert(new llvm::FreezeInst(build_.getFalse()), "prologue");  // goes with dead code
  forget_phis(block);
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&block.front()); call && classify(*call) == CallKind::barrier)
    barrier(node, *call);
  for (llvm::Instruction& one : block)
    if (!llvm::isa<llvm::PHINode>(one) && !one.isTerminator()) instruction(one);
  leave(node, block);
}

// What phis behind this block held for an earlier round is not needed any more.
void Widener::forget_phis(const llvm::BasicBlock& dominator) {
  for (const Node& node : order_.nodes) {
    if (!node.block || schedule_.dominator(node.block) != &dominator) continue;
    for (llvm::PHINode& phi : node.block->phis()) {
      llvm::AllocaInst* kept = variable(&phi);
      build_.CreateStore(llvm::PoisonValue::get(kept->getAllocatedType()), kept);
    }
  }
}

void Widener::end_of_loop(int node) {
  const Visit& visit = schedule_.at(node);
  llvm::BasicBlock* header = order_.nodes[size_t(node)].end_of->getHeader();
  const int again = order_.of_block.lookup(header);
  build_.SetInsertPoint(start_[size_t(node)]);
  llvm::AllocaInst* arrived = arrived_[size_t(node)];
  llvm::Value* mask = build_.CreateLoad(arrived->getAllocatedType(), arrived, "again");
  build_.CreateStore(llvm::Constant::getNullValue(mask->getType()), arrived);
  if (!mask_known(again)) build_.CreateStore(mask, arrived_[size_t(again)]);
  if (visit.populated || visit.waiting.empty()) build_.CreateBr(start_[size_t(again)]);
  else build_.CreateCondBr(any(mask), start_[size_t(again)], start_[size_t(Schedule::first(visit.waiting))]);
}

void Widener::jump(const Places& waiting, std::initializer_list<int> more) {
  Places places = waiting;
  places.insert(more.begin(), more.end());
  build_.CreateBr(start_[size_t(Schedule::first(places))]);
}

void Widener::leave(int node, llvm::BasicBlock& block) {
  const Visit& visit = schedule_.at(node);
  const bool here = visit.populated || visit.guarded;
  const auto target = [&](llvm::BasicBlock* to) { return order_.target(&block, to, loops_); };
  if (llvm::succ_empty(&block)) return jump(visit.waiting, {order_.exit()});
  auto* branch = llvm::cast<llvm::BranchInst>(block.getTerminator());
  if (branch->isUnconditional()) {
    take({{&block, branch->getSuccessor(0), mask_, here}});
    return jump(visit.waiting, {target(branch->getSuccessor(0))});
  }
  llvm::BasicBlock *yes = branch->getSuccessor(0), *no = branch->getSuccessor(1);
  if (shapes_.divergent_branch(&block)) {
    // Lanes that are not here may hold poison.
    llvm::Value* condition = build_.CreateFreeze(vector(branch->getCondition()));
    llvm::Value* goes = build_.CreateAnd(mask_, condition);
    llvm::Value* stays = build_.CreateAnd(mask_, build_.CreateNot(condition));
    take({{&block, yes, goes, false}, {&block, no, stays, false}});
    return jump(visit.waiting, {target(yes), target(no)});
  }
  llvm::Value* condition = base(branch->getCondition());
  llvm::BasicBlock *to_yes = new_block("yes"), *to_no = new_block("no");
  build_.CreateCondBr(condition, to_yes, to_no);
  const auto known = local_;
  const auto known_vectors = local_vector_;
  for (const auto& [at, to] : {std::pair(to_yes, yes), std::pair(to_no, no)}) {
    local_ = known, local_vector_ = known_vectors;  // vectors made on one way are not at hand on the other
    build_.SetInsertPoint(at);
    take({{&block, to, mask_, here}});
    jump(visit.waiting, {target(to)});
  }
}

// Phis get their values and blocks their lanes. All values are read before any phi changes.
void Widener::take(llvm::ArrayRef<Edge> edges) {
  llvm::SmallVector<std::pair<llvm::Value*, llvm::AllocaInst*>> stores;
  for (const Edge& edge : edges) {
    const llvm::Loop* loop = loops_.getLoopFor(edge.to);
    const bool header = loop && loop->getHeader() == edge.to;
    // No lane waits there yet that came another way, or in an earlier round of a loop inside.
    const bool alone = header || (edge.to->getSinglePredecessor() && loop == loops_.getLoopFor(edge.from));
    for (llvm::PHINode& phi : edge.to->phis()) {
      llvm::Value* value = phi.getIncomingValueForBlock(edge.from);
      if (llvm::isa<llvm::UndefValue>(value)) continue;
      llvm::AllocaInst* kept = variable(&phi);
      const bool is_wide = varying(&phi);
      llvm::Value* now = is_wide ? vector(value) : base(value);
      if (!alone && (is_wide || !edge.certain)) {
        llvm::Value* before = build_.CreateLoad(kept->getAllocatedType(), kept);
        if (is_wide && now->getType()->isAggregateType()) refuse("a phi of structs");
        now = build_.CreateSelect(is_wide ? edge.mask : any(edge.mask), now, before);
      }
      stores.push_back({now, kept});
    }
  }
  for (const auto& [value, kept] : stores) build_.CreateStore(value, kept);
  for (const Edge& edge : edges) {
    const int node = order_.target(edge.from, edge.to, loops_);
    llvm::AllocaInst* arrived = arrived_[size_t(node)];
    if (!arrived) continue;
    llvm::Value* before = build_.CreateLoad(arrived->getAllocatedType(), arrived);
    build_.CreateStore(build_.CreateOr(before, edge.mask), arrived);
  }
}

}  // namespace trine::simt::lanes
